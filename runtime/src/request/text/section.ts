// A stretch of an answer's text of one kind, with its own decoder; stop strings lie within one.

import type { Detokenizer } from '../../tokens/detokenizer.js';
import type { StopMatcher } from '../../tokens/stop-matcher.js';

export interface SectionText {
  readonly text: string;
  readonly stop: string | null;
}

export class Section {
  /** Whether there is more in it than space. */
  hasText = false;
  /** Its last character; empty: it has none. */
  last = '';
  /** What came that may be the label. */
  private held = '';

  /** @param label what is no part of the text where it begins with it; empty: nothing */
  constructor(
    readonly kind: 'content' | 'reasoning',
    private readonly detokenizer: Detokenizer,
    private readonly matcher: StopMatcher,
    private skipLineBreaks: boolean,
    private label = '',
  ) {}

  push(id: number, mayStop: boolean): SectionText {
    return this.add(this.detokenizer.push([id]), mayStop);
  }

  /** Text that the same decoder gave before. */
  resume(text: string, mayStop: boolean): SectionText {
    return this.add(text, mayStop);
  }

  quote(text: string, mayStop: boolean): SectionText {
    return this.add(this.detokenizer.flush() + text, mayStop);
  }

  close(): SectionText {
    const last = this.add(this.detokenizer.flush(), true, true);
    return last.stop === null ? { text: last.text + this.matcher.flush(), stop: null } : last;
  }

  private add(added: string, mayStop: boolean, isEnd = false): SectionText {
    const text = this.trimmed(this.unlabelled(added, isEnd));
    this.hasText ||= text.trim() !== '';
    this.last = text.at(-1) ?? this.last;
    return this.matcher.push(text, mayStop);
  }

  private unlabelled(added: string, isEnd: boolean): string {
    const { label } = this;
    if (label === '') return added;
    const text = this.held + added;
    if (!isEnd && text.length < label.length && label.startsWith(text)) {
      this.held = text;
      return '';
    }
    this.label = '';
    // The end of a text may stand for the label's line break.
    return text.startsWith(label) ? text.slice(label.length) : text === label.trimEnd() ? '' : text;
  }

  private trimmed(text: string): string {
    if (!this.skipLineBreaks) return text;
    const trimmed = text.replace(/^\n+/, '');
    if (trimmed !== '') this.skipLineBreaks = false;
    return trimmed;
  }
}
