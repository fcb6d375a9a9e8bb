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

  constructor(
    readonly kind: 'content' | 'reasoning',
    private readonly detokenizer: Detokenizer,
    private readonly matcher: StopMatcher,
    private skipLineBreaks: boolean,
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
    const last = this.add(this.detokenizer.flush(), true);
    return last.stop === null ? { text: last.text + this.matcher.flush(), stop: null } : last;
  }

  private add(added: string, mayStop: boolean): SectionText {
    const text = this.trimmed(added);
    this.hasText ||= text.trim() !== '';
    this.last = text.at(-1) ?? this.last;
    return this.matcher.push(text, mayStop);
  }

  private trimmed(text: string): string {
    if (!this.skipLineBreaks) return text;
    const trimmed = text.replace(/^\n+/, '');
    if (trimmed !== '') this.skipLineBreaks = false;
    return trimmed;
  }
}
