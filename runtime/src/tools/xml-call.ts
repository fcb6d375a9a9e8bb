// Calls as Qwen3-Coder and its successors write them: <function=NAME>, then <parameter=KEY> value </parameter> for each
// argument, then </function>; one line break on either side of a value is none of it. Text passes on while it comes,
// values of other types once they are whole. One repair: models leave </parameter> out.

import { parameterType, propertyOf, type ParameterType } from './parameter-type.js';
import { partialMarker } from './partial-marker.js';
import type { CallBody, CallSink, Schema } from './tool.js';

export const beginFunction = '<function=';
const endFunction = '</function>';
const beginParameter = '<parameter=';
const endParameter = '</parameter>';
const everyEnd = new RegExp(endParameter, 'g');
/** Of a function or a parameter. */
const longestName = 256;
/** On a line of its own. */
const nextParameter = new RegExp(`\\n${beginParameter}([^>\\n]{1,${String(longestName)}})>`, 'g');
/** What is none of a value if nothing, or the rest of such a line, comes behind it. */
const openEnd = new RegExp(`\\n(?:${endFunction}\\n?|${beginParameter}[^>\\n]{0,${String(longestName)}})$`);
const endsFunction = new RegExp(`\\n${endFunction}\\n?$`);
/** What may stand behind the end of a value: any other text shows that the value quotes it. */
const behindValue = [beginParameter, endFunction, beginFunction, endParameter];
/** Space behind it that is waited for. */
const longestGap = 256;
/** What ends a value, or may. */
const valueEnds = [endParameter, ...[endParameter, endFunction, beginParameter].map((end) => `\n${end}`)];

export class XmlCall implements CallBody {
  state: CallBody['state'] = 'undecided';
  private at: 'function' | 'name' | 'between' | 'key' | 'value' | 'done' = 'function';
  /** What was not understood yet. */
  private rest = '';
  private parameters: Schema | null = null;
  private type: ParameterType = parameterType(null, '');
  /** Names of the call's parameters so far. */
  private given: ReadonlySet<string> = new Set();
  /** Of a value that is needed whole. */
  private value = '';
  private valueBegun = false;

  /**
   * @param accepts whether a name is one of a tool; any other makes the block text
   * @param parametersOf the schema of a tool's arguments
   * @param many whether the block may have several functions
   */
  constructor(
    private readonly sink: CallSink,
    private readonly accepts: (name: string) => boolean,
    private readonly parametersOf: (name: string) => Schema | null,
    private readonly many: boolean,
  ) {}

  /** What stands behind the end of a function is none of a value, though the value's own end was left out. */
  get quotes(): boolean {
    return this.at === 'value' && this.endOfValue() === null && !endsFunction.test(this.rest);
  }

  get isWhole(): boolean {
    return this.state === 'call' && (this.at === 'function' || this.at === 'done');
  }

  copy(): XmlCall {
    return Object.assign(new XmlCall(this.sink, this.accepts, this.parametersOf, this.many), this);
  }

  push(text: string): string | null {
    this.rest += text;
    while (this.state !== 'text' && this.step());
    if (this.at !== 'done') return null;
    const { rest } = this;
    this.rest = '';
    return rest;
  }

  end(cut: boolean): void {
    if (this.state === 'undecided') this.state = 'text';
    if (this.state === 'text') return;
    const last = this.at === 'value' ? this.endOfValue() : null;
    if (last !== null) this.closeValue(last.at);
    if (cut) return;
    if (this.at === 'value') {
      this.addValue(this.rest.replace(/(?:\n<\/function>)?\n?$/, ''));
      this.endValue();
    }
    if (this.at === 'between' || this.at === 'key') this.endFunction();
  }

  /** Whether it came further. */
  private step(): boolean {
    switch (this.at) {
      case 'function':
        return this.readBegin();
      case 'name':
        return this.readName((name) => {
          if (this.state === 'undecided' && !this.accepts(name)) {
            this.state = 'text';
            return;
          }
          this.sink.begin(name);
          this.state = 'call';
          this.parameters = this.parametersOf(name);
          this.given = new Set();
          this.at = 'between';
        });
      case 'between':
        return this.readBetween();
      case 'key':
        return this.readName((name) => {
          this.type = parameterType(this.parameters, name);
          const mark = `${this.given.size === 0 ? '{' : ','}${JSON.stringify(name)}:`;
          this.sink.arguments(this.type.isText ? `${mark}"` : mark);
          this.given = new Set([...this.given, name]);
          this.value = '';
          this.valueBegun = false;
          this.at = 'value';
        });
      case 'value':
        return this.readValue();
      case 'done':
        return false;
    }
  }

  private readBegin(): boolean {
    this.rest = this.rest.trimStart();
    if (this.rest.startsWith(beginFunction)) return this.goOn('name', this.rest, beginFunction.length);
    if (!beginFunction.startsWith(this.rest)) {
      if (this.state === 'undecided') this.state = 'text';
      else this.at = 'done';
    }
    return false;
  }

  private readName(found: (name: string) => void): boolean {
    const end = this.rest.indexOf('>');
    const name = this.rest.slice(0, end).trim();
    if (end === -1 && this.rest.length <= longestName) return false;
    if (end === -1 || end > longestName || name === '' || /[\n<]/.test(name)) {
      // Of the call that is begun no more can be understood.
      if (this.state === 'undecided') this.state = 'text';
      else this.endFunction('done');
      return false;
    }
    this.rest = this.rest.slice(end + 1);
    found(name);
    return true;
  }

  private readBetween(): boolean {
    const parameter = this.rest.indexOf(beginParameter);
    const end = this.rest.indexOf(endFunction);
    if (parameter !== -1 && (end === -1 || parameter < end))
      return this.goOn('key', this.rest, parameter + beginParameter.length);
    if (end !== -1) {
      this.rest = this.rest.slice(end + endFunction.length);
      this.endFunction();
      return true;
    }
    const keep = Math.max(partialMarker(this.rest, beginParameter), partialMarker(this.rest, endFunction));
    this.rest = this.rest.slice(this.rest.length - keep);
    return false;
  }

  private readValue(): boolean {
    const end = this.endOfValue();
    const next = this.beginOfNext();
    if (next !== null && (end === null || next < end.at)) {
      this.addValue(this.rest.slice(0, next));
      this.endValue();
      return this.goOn('key', this.rest, next + 1 + beginParameter.length);
    }
    if (end?.isSure === true) {
      this.closeValue(end.at);
      return true;
    }
    const open = openEnd.exec(this.rest)?.[0].length ?? 0;
    const doubted = end === null ? 0 : this.rest.length - Math.max(0, end.at - 1);
    const keep = Math.max(open, doubted, ...valueEnds.map((each) => partialMarker(this.rest, each)));
    this.addValue(this.rest.slice(0, this.rest.length - keep));
    this.rest = this.rest.slice(this.rest.length - keep);
    return false;
  }

  /** Where the value ends: sure once what follows has come, before which its line break is kept too. Null: nowhere yet. */
  private endOfValue(): { readonly at: number; readonly isSure: boolean } | null {
    for (const { index: at } of this.rest.matchAll(everyEnd)) {
      const all = this.rest.slice(at + endParameter.length);
      const behind = all.trimStart();
      if (behindValue.some((each) => behind.startsWith(each))) return { at, isSure: true };
      const isSure = all.length - behind.length > longestGap;
      if (behindValue.some((each) => each.startsWith(behind))) return { at, isSure };
    }
    return null;
  }

  /** Where a parameter begins that the tool has and the call has not: any other may be quoted in the value. */
  private beginOfNext(): number | null {
    const isNew = (name = ''): boolean => !this.given.has(name) && propertyOf(this.parameters, name) !== null;
    return [...this.rest.matchAll(nextParameter)].find(({ 1: name }) => isNew(name))?.index ?? null;
  }

  private addValue(text: string, isLast = false): void {
    if (text === '') return;
    const begun = this.valueBegun ? text : text.replace(/^\n/, '');
    this.valueBegun = true;
    const piece = isLast ? begun.replace(/\n$/, '') : begun;
    if (!this.type.isText) this.value += piece;
    else if (piece !== '') this.sink.arguments(JSON.stringify(piece).slice(1, -1));
  }

  private closeValue(at: number): void {
    this.addValue(this.rest.slice(0, at), true);
    this.endValue();
    this.rest = this.rest.slice(at + endParameter.length);
  }

  private endValue(): void {
    this.sink.arguments(this.type.isText ? '"' : this.type.toJson(this.value));
    this.at = 'between';
  }

  private endFunction(next: 'function' | 'done' = this.many ? 'function' : 'done'): void {
    this.sink.arguments(this.given.size === 0 ? '{}' : '}');
    this.at = next;
  }

  private goOn(at: typeof this.at, text: string, from: number): true {
    this.at = at;
    this.rest = text.slice(from);
    return true;
  }
}
