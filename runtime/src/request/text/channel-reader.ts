// Separates the messages of an answer in OpenAI's Harmony format by their channels: analysis is reasoning, what is for a
// function is a call of it, and all else is the answer's text. Text of several messages is on lines of its own.

import { CallDeltas } from '../../tools/call-deltas.js';
import type { ToolUse } from '../../tools/tool.js';
import { JsonArguments } from '../../harmony/json-arguments.js';
import { markOf, type HarmonyMark, type HarmonyTokens } from '../../harmony/harmony-tokens.js';
import { MessageHeader, type Destination } from '../../harmony/message-header.js';
import type { Detokenizer } from '../../tokens/detokenizer.js';
import type { StopMatcher } from '../../tokens/stop-matcher.js';
import type { AnswerReader, ReadAnswer } from './answer-reader.js';
import { Section } from './section.js';

/** Where in a message a prompt ends: within its header, whose role is known or not, or within its text. */
export type ChannelPlace =
  | { readonly at: 'header'; readonly hasRole: boolean }
  | { readonly at: 'text'; readonly isReasoning: boolean };

export interface ChannelOptions {
  readonly tokens: HarmonyTokens;
  readonly place: ChannelPlace;
  /** Null: the answer may call none, and a call is text. */
  readonly use: ToolUse | null;
  readonly newCallId: () => string;
}

/** The text of a message. */
interface Body {
  readonly to: Destination;
  readonly section: Section;
  readonly given: JsonArguments;
  /** Whether there is text of it. */
  begun: boolean;
}

export class ChannelReader implements AnswerReader {
  private header: MessageHeader;
  private decoder: Detokenizer;
  /** Null: within a header. */
  private body: Body | null = null;
  private readonly calls: CallDeltas;
  private cut = false;
  /** What came since the last time. */
  private texts = { content: '', reasoning: '' };
  /** Whether there is text of each kind. */
  private readonly said = { content: false, reasoning: false };

  constructor(
    private readonly options: ChannelOptions,
    private readonly newDetokenizer: () => Detokenizer,
    private readonly matcher: StopMatcher,
  ) {
    const { place, newCallId } = options;
    this.calls = new CallDeltas(newCallId);
    this.decoder = newDetokenizer();
    this.header = this.newHeader(place.at === 'header' && place.hasRole);
    if (place.at === 'text') this.open({ kind: place.isReasoning ? 'reasoning' : 'content' });
  }

  get isReasoning(): boolean {
    return this.body?.to.kind === 'reasoning';
  }

  get isFull(): boolean {
    return this.options.use?.parallel === false && this.calls.count > 0 && this.body === null;
  }

  get asksForCalls(): boolean {
    return this.calls.count > 0 && !this.cut;
  }

  writesText(id: number): boolean {
    return this.body?.to.kind === 'content' && markOf(this.options.tokens, id) === null;
  }

  push(id: number, mayStop: boolean): string | null {
    if (this.isFull) return null;
    const mark = markOf(this.options.tokens, id);
    if (mark !== null) return this.pushMark(mark);
    if (this.body !== null) return this.add(this.body, id, mayStop);
    this.header.push(this.decoder.push([id]));
    return this.header.isHeader ? null : this.openRest(mayStop);
  }

  flush(): void {
    this.append(this.matcher.flush());
  }

  close(): string | null {
    const { body, header, decoder } = this;
    if (body === null) header.push(decoder.flush());
    const stop = body === null && header.rest !== '' ? this.openRest(true) : null;
    return stop ?? this.endText();
  }

  end(cut: boolean): void {
    const { body } = this;
    this.cut ||= cut && body?.to.kind === 'call';
    if (body?.to.kind === 'call' && body.given.isEmpty && !cut) this.calls.arguments('{}');
  }

  take(): ReadAnswer {
    const { texts } = this;
    this.texts = { content: '', reasoning: '' };
    return { ...texts, toolCalls: this.calls.take() };
  }

  /** The stop string that the end of a message completed, or null. */
  private pushMark(mark: HarmonyMark): string | null {
    if (mark === 'message' || mark === 'constrain' || (mark === 'channel' && this.body === null)) {
      // Within a text they say nothing.
      if (this.body !== null) return null;
      this.header.push(this.decoder.flush());
      if (mark === 'message') this.open(this.header.destination);
      else this.header.mark(mark);
      return null;
    }
    const stop = this.close();
    if (stop !== null) return stop;
    this.end(false);
    this.body = null;
    this.decoder = this.newDetokenizer();
    // A channel begins a message whose role a model left out.
    this.header = this.newHeader(mark === 'channel');
    if (mark === 'channel') this.header.mark(mark);
    return null;
  }

  /** What of a header turned out to be none is text. */
  private openRest(mayStop: boolean): string | null {
    const { rest, destination } = this.header;
    const { section } = this.open(destination, this.decoder);
    const added = section.resume(rest, mayStop);
    this.append(added.text);
    return added.stop;
  }

  private add({ section }: Body, id: number, mayStop: boolean): string | null {
    const added = section.push(id, mayStop);
    this.append(added.text);
    return added.stop;
  }

  private endText(): string | null {
    if (this.body === null) return null;
    const end = this.body.section.close();
    this.append(end.text);
    return end.stop;
  }

  private append(text: string): void {
    const { body } = this;
    if (body === null || text === '') return;
    const { kind } = body.to;
    if (kind === 'call') {
      const given = body.given.push(text);
      if (given !== '') this.calls.arguments(given);
      return;
    }
    const before = this.said[kind] && !body.begun ? '\n' : '';
    body.begun = true;
    this.said[kind] = true;
    this.texts[kind] += before + text;
  }

  private open(to: Destination, decoder = this.newDetokenizer()): Body {
    const kind = to.kind === 'reasoning' ? 'reasoning' : 'content';
    const section = new Section(kind, decoder, this.matcher, false);
    if (to.kind === 'call') this.calls.begin(to.name);
    this.body = { to, section, given: new JsonArguments(), begun: false };
    return this.body;
  }

  private newHeader(hasRole: boolean): MessageHeader {
    const { use } = this.options;
    const isTool = use === null ? null : (name: string) => use.tools.some((tool) => tool.name === name);
    return new MessageHeader(hasRole, isTool);
  }
}
