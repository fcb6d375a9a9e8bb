// Calls whose name stands before their arguments: a head of the form's markers and the name, then an object: JSON, which
// passes on as JsonCall does, unless the form writes it otherwise. What stands behind belongs to the head of the next call.

import { JsonCall } from './json-call.js';
import type { ArgumentsBody, CallBody, CallSink } from './tool.js';

/** A name, and all that forms write around it. */
const longestHead = 512;

export class NamedCall implements CallBody {
  state: CallBody['state'] = 'undecided';
  private head = '';
  /** Reads the arguments; null: they have not begun. */
  private call: ArgumentsBody | null = null;
  private done = false;

  /**
   * @param accepts whether a name is one of a tool; any other makes the block text
   * @param form of all that stands before an object, the name its first group
   * @param many whether the block may have several calls
   * @param newArguments reads those of a call of the name
   */
  constructor(
    private readonly sink: CallSink,
    private readonly accepts: (name: string) => boolean,
    private readonly form: RegExp,
    private readonly many: boolean,
    private readonly newArguments: (sink: CallSink, name: string) => ArgumentsBody = (to, name) =>
      JsonCall.ofArguments(to, name),
  ) {}

  get quotes(): boolean {
    return this.call?.quotes === true;
  }

  get isWhole(): boolean {
    return this.state === 'call' && this.call === null;
  }

  copy(): NamedCall {
    const { sink, accepts, form, many, newArguments } = this;
    const copy = Object.assign(new NamedCall(sink, accepts, form, many, newArguments), this);
    copy.call = this.call?.copy() ?? null;
    return copy;
  }

  push(text: string): string | null {
    let rest = text;
    while (rest !== '' && !this.done && this.state !== 'text')
      rest = this.call === null ? this.readHead(rest) : this.readArguments(this.call, rest);
    return this.done ? rest : null;
  }

  end(cut: boolean): void {
    if (this.state === 'undecided') this.state = 'text';
    this.call?.end(cut);
  }

  private readHead(text: string): string {
    const at = text.indexOf('{');
    this.head += at === -1 ? text : text.slice(0, at);
    const isLong = this.head.length > longestHead;
    if (at === -1 && !isLong) return '';
    const [, name] = (isLong ? null : this.form.exec(this.head)) ?? [];
    this.head = '';
    if (name === undefined || !this.accepts(name)) {
      if (this.state === 'undecided') this.state = 'text';
      else this.done = true;
      return '';
    }
    this.state = 'call';
    this.call = this.newArguments(this.sink, name);
    return text.slice(at);
  }

  private readArguments(call: ArgumentsBody, text: string): string {
    const rest = call.push(text);
    if (rest === null) return '';
    this.call = null;
    this.done = !this.many;
    return rest;
  }
}
