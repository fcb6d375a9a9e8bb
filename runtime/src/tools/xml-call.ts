// Calls in XML: functions with their names, and in each its parameters, in a syntax of xml-syntax.ts. Text passes on while
// it comes, values of other types once they are whole. One repair: models leave the end of a parameter out.

import { parameterType, propertyOf, type ParameterType } from './parameter-type.js';
import { partialMarker } from './partial-marker.js';
import type { CallBody, CallReading, Schema } from './tool.js';
import { longestName, type XmlSyntax } from './xml-syntax.js';

/** Of a function that no mark comes before. */
const bareName = /^\s*([\w.:/-]*)\s*$/;
/** Space behind the end of a value that is waited for. */
const longestGap = 256;

export class XmlCall implements CallBody {
  state: CallBody['state'] = 'undecided';
  private at: 'function' | 'name' | 'between' | 'key' | 'beforeValue' | 'value' | 'done' = 'function';
  /** What was not understood yet. */
  private rest = '';
  private parameters: Schema | null = null;
  private type: ParameterType = parameterType(null, '');
  /** Names of the call's parameters so far. */
  private given: ReadonlySet<string> = new Set();
  /** Of a value that is needed whole. */
  private value = '';
  private valueBegun = false;

  constructor(
    private readonly reading: CallReading,
    private readonly syntax: XmlSyntax,
  ) {}

  /** What stands behind the end of a function is none of a value, though the value's own end was left out. */
  get quotes(): boolean {
    return this.at === 'value' && this.endOfValue() === null && !this.syntax.endsFunction.test(this.rest);
  }

  get isWhole(): boolean {
    return this.state === 'call' && (this.at === 'function' || this.at === 'done');
  }

  copy(): XmlCall {
    return Object.assign(new XmlCall(this.reading, this.syntax), this);
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
    const [, name = ''] = this.syntax.call === null && !cut ? (bareName.exec(this.rest) ?? []) : [];
    if (this.state === 'undecided' && name !== '') this.beginFunction(name);
    if (this.state === 'undecided') this.state = 'text';
    if (this.state === 'text') return;
    const last = this.at === 'value' ? this.endOfValue() : null;
    if (last !== null) this.closeValue(last.at);
    if (cut) return;
    if (this.at === 'value') this.addValue(this.rest.replace(this.syntax.lastEnd, ''));
    if (this.at === 'value' || this.at === 'beforeValue') this.endValue();
    if (this.at === 'between' || this.at === 'key') this.endFunction();
  }

  /** Whether it came further. */
  private step(): boolean {
    const { call, endKey } = this.syntax;
    switch (this.at) {
      case 'function':
        return call === null ? this.readBareName() : this.readBegin(call[0]);
      case 'name':
        return this.readName(call?.[1] ?? '', (name) => this.beginFunction(name));
      case 'between':
        return this.readBetween();
      case 'key':
        return this.readName(endKey, (name) => this.beginParameter(name));
      case 'beforeValue':
        return this.readBeforeValue();
      case 'value':
        return this.readValue();
      case 'done':
        return false;
    }
  }

  private beginFunction(name: string): void {
    if (this.state === 'undecided' && !this.reading.accepts(name)) {
      this.state = 'text';
      return;
    }
    this.reading.sink.begin(name);
    this.state = 'call';
    this.parameters = this.reading.parametersOf(name);
    this.given = new Set();
    this.at = 'between';
  }

  private beginParameter(name: string): void {
    this.type = parameterType(this.parameters, name);
    const mark = `${this.given.size === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    this.reading.sink.arguments(this.type.isText ? `${mark}"` : mark);
    this.given = new Set([...this.given, name]);
    this.value = '';
    this.valueBegun = false;
    this.at = this.syntax.beginValue === '' ? 'value' : 'beforeValue';
  }

  private readBegin(begin: string): boolean {
    this.rest = this.rest.trimStart();
    if (this.rest.startsWith(begin)) return this.goOn('name', this.rest, begin.length);
    if (!begin.startsWith(this.rest)) {
      if (this.state === 'undecided') this.state = 'text';
      else this.at = 'done';
    }
    return false;
  }

  /** One that parameters follow. */
  private readBareName(): boolean {
    const { beginParameter } = this.syntax;
    const at = this.rest.indexOf(beginParameter);
    const end = at === -1 ? this.rest.length - partialMarker(this.rest, beginParameter) : at;
    const [, name] = (end <= longestName ? bareName.exec(this.rest.slice(0, end)) : null) ?? [];
    if (name === undefined || (at !== -1 && name === '')) this.state = 'text';
    if (at === -1 || name === undefined || name === '') return false;
    this.rest = this.rest.slice(at);
    this.beginFunction(name);
    return true;
  }

  private readName(mark: string, found: (name: string) => void): boolean {
    const end = this.rest.indexOf(mark);
    const name = this.rest.slice(0, end).trim();
    if (end === -1 && this.rest.length <= longestName) return false;
    if (end === -1 || end > longestName || name === '' || /[\n<]/.test(name)) {
      // Of the call that is begun no more can be understood.
      if (this.state === 'undecided') this.state = 'text';
      else this.endFunction('done');
      return false;
    }
    this.rest = this.rest.slice(end + mark.length);
    found(name);
    return true;
  }

  private readBetween(): boolean {
    const { call, beginParameter } = this.syntax;
    const parameter = this.rest.indexOf(beginParameter);
    const end = call === null ? -1 : this.rest.indexOf(call[2]);
    if (parameter !== -1 && (end === -1 || parameter < end))
      return this.goOn('key', this.rest, parameter + beginParameter.length);
    if (call !== null && end !== -1) {
      this.rest = this.rest.slice(end + call[2].length);
      this.endFunction();
      return true;
    }
    this.keep(beginParameter, ...(call === null ? [] : [call[2]]));
    return false;
  }

  private readBeforeValue(): boolean {
    const { beginValue } = this.syntax;
    const at = this.rest.indexOf(beginValue);
    if (at !== -1) return this.goOn('value', this.rest, at + beginValue.length);
    this.keep(beginValue);
    return false;
  }

  private readValue(): boolean {
    const { beginParameter, openEnd, valueEnds } = this.syntax;
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
    const { endParameter, behindValue } = this.syntax;
    for (let at = this.rest.indexOf(endParameter); at !== -1; at = this.rest.indexOf(endParameter, at + 1)) {
      const all = this.rest.slice(at + endParameter.length);
      const behind = all.trimStart();
      if (behindValue.some((each) => behind.startsWith(each))) return { at, isSure: true };
      const isSure = all.length - behind.length > longestGap;
      if (behindValue.some((each) => each.startsWith(behind))) return { at, isSure };
    }
    return null;
  }

  /** Drops all but what may be the beginning of a mark. */
  private keep(...marks: readonly string[]): void {
    const length = Math.max(...marks.map((mark) => partialMarker(this.rest, mark)));
    this.rest = this.rest.slice(this.rest.length - length);
  }

  /** Where a parameter begins that the tool has and the call has not: any other may be quoted in the value. */
  private beginOfNext(): number | null {
    const isNew = (name = ''): boolean => !this.given.has(name) && propertyOf(this.parameters, name) !== null;
    return (
      [...this.rest.matchAll(this.syntax.nextParameter)].find(({ 1: name }) => isNew(name))?.index ?? null
    );
  }

  private addValue(text: string, isLast = false): void {
    if (text === '') return;
    const { isPadded } = this.syntax;
    const begun = this.valueBegun || !isPadded ? text : text.replace(/^\n/, '');
    this.valueBegun = true;
    const piece = isLast && isPadded ? begun.replace(/\n$/, '') : begun;
    if (!this.type.isText) this.value += piece;
    else if (piece !== '') this.reading.sink.arguments(JSON.stringify(piece).slice(1, -1));
  }

  private closeValue(at: number): void {
    this.addValue(this.rest.slice(0, at), true);
    this.endValue();
    this.rest = this.rest.slice(at + this.syntax.endParameter.length);
  }

  private endValue(): void {
    this.reading.sink.arguments(this.type.isText ? '"' : this.type.toJson(this.value));
    this.at = 'between';
  }

  private endFunction(next: 'function' | 'done' = this.reading.many ? 'function' : 'done'): void {
    this.reading.sink.arguments(this.given.size === 0 ? '{}' : '}');
    this.at = next;
  }

  private goOn(at: typeof this.at, text: string, from: number): true {
    this.at = at;
    this.rest = text.slice(from);
    return true;
  }
}
