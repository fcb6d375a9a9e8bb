// Calls as JSON objects, each with its name and its arguments, read character by character:
// {"name": NAME, "arguments" or "parameters": {…}}, in either order, among other keys; several may stand in a list.
// Arguments pass on as the model wrote them, with one repair: control characters in strings, which JSON does not have,
// are escaped.

import type { CallBody, CallSink } from './tool.js';

const isSpace = (char: string): boolean => /[ \n\r\t]/.test(char);
/** What JSON has outside of texts. */
const mayBeJson = (char: string): boolean => /[\w\s{}[\],:"+.-]/.test(char);

export class JsonCall implements CallBody {
  state: CallBody['state'] = 'undecided';
  private at: 'start' | 'key' | 'inKey' | 'colon' | 'value' | 'inValue' | 'next' | 'between' | 'done' =
    'start';
  private key = '';
  private name: string | null = null;
  /** Whether the object was announced as a call. */
  private announced = false;
  /** Text of the key or of the value that is being read, where it is needed whole. */
  private token = '';
  /** Its first character: reading that of a text that grows would copy all of it each time. */
  private first = '';
  /** Arguments that were read before the name, or since the last flush. */
  private pending = '';
  private hasArguments = false;
  private depth = 0;
  private inString = false;
  private escaped = false;
  /** Whether the objects stand in a list. */
  private inList = false;
  /** Whether the object ended with a character that is none of it. */
  private broken = false;
  /** Whether only the arguments come. */
  private isNamed = false;

  /**
   * @param accepts whether a name is one of a tool; any other makes the object text
   * @param many whether the block may have several objects: what stands between them is ignored
   * @param list whether objects may stand in a list: where a marker ends the block, the list's own end is `ignored`
   */
  constructor(
    private readonly sink: CallSink,
    private readonly accepts: (name: string) => boolean,
    private readonly many: boolean,
    private readonly list: 'none' | 'ignored' | 'ends',
  ) {}

  /** Of a call whose name came before: ends with the object that its arguments are. */
  static ofArguments(sink: CallSink, name: string): JsonCall {
    const call = new JsonCall(sink, () => true, false, 'none');
    call.isNamed = true;
    call.name = name;
    call.key = 'arguments';
    call.at = 'value';
    return call;
  }

  get quotes(): boolean {
    return this.inString;
  }

  get isWhole(): boolean {
    return this.state === 'call' && !this.broken && (this.at === 'done' || this.at === 'between');
  }

  copy(): JsonCall {
    return Object.assign(new JsonCall(this.sink, this.accepts, this.many, this.list), this);
  }

  push(text: string): string | null {
    for (let i = 0; i < text.length && this.state !== 'text'; i++) {
      if (this.at !== 'done') this.take(text.charAt(i));
      if (this.at === 'done') {
        this.flush();
        return text.slice(this.broken ? i : i + 1);
      }
    }
    this.flush();
    return null;
  }

  end(cut: boolean): void {
    if (this.state === 'undecided') this.state = 'text';
    if (this.announced && this.at === 'inValue' && !this.streams && this.isArguments && !cut)
      this.pending += this.token;
    this.flush();
  }

  private take(char: string): void {
    if (this.at === 'inKey' || this.at === 'inValue') {
      this.takeInside(char);
      return;
    }
    if (isSpace(char)) return;
    switch (this.at) {
      case 'start':
        if (char === '{') this.at = 'key';
        else if (char === '[' && this.list !== 'none' && !this.inList) this.inList = true;
        else this.fail();
        return;
      case 'key':
        if (char === '"') this.begin('inKey', char);
        else if (char === '}') this.close();
        else this.fail();
        return;
      case 'colon':
        if (char === ':') this.at = 'value';
        else this.fail();
        return;
      case 'value':
        this.begin('inValue', char);
        return;
      case 'between':
        if (char === '{') this.restart();
        else if (char === ']' && this.list === 'ends') this.at = 'done';
        return;
      default:
        if (char === ',') this.at = 'key';
        else if (char === '}') this.close();
        else this.fail();
    }
  }

  private begin(at: 'inKey' | 'inValue', char: string): void {
    this.at = at;
    this.token = '';
    this.first = char;
    this.depth = 0;
    if (this.at === 'inValue' && this.isArguments && this.streams && this.name !== null) this.commit();
    this.takeInside(char);
  }

  /** Of a key or a value: strings and brackets are followed; of a call that is sure nothing else is checked. */
  private takeInside(char: string): void {
    if (this.inString) {
      this.keep(char < ' ' ? JSON.stringify(char).slice(1, -1) : char);
      if (char === '"' && !this.escaped) this.inString = false;
      this.escaped = char === '\\' && !this.escaped;
      if (!this.inString && this.depth === 0) this.endToken();
      return;
    }
    if (this.depth === 0 && this.token !== '' && (/[,}\]]/.test(char) || isSpace(char))) {
      this.endToken();
      if (this.state !== 'text') this.take(char);
      return;
    }
    if (this.state === 'undecided' && !mayBeJson(char)) {
      this.fail();
      return;
    }
    if (char === '"') this.inString = true;
    if (/[{[]/.test(char)) this.depth += 1;
    const closes = /[}\]]/.test(char);
    if (closes && this.depth === 0) {
      this.fail();
      return;
    }
    if (closes) this.depth -= 1;
    this.keep(char);
    if (closes && this.depth === 0) this.endToken();
  }

  private keep(text: string): void {
    // One character says what kind of value it is; the whole is needed of names, keys and scalars alone.
    if (this.depth === 0 || this.token === '') this.token += text;
    if (this.at === 'inValue' && this.isArguments && this.streams) this.pending += text;
  }

  private endToken(): void {
    if (this.at === 'inKey') {
      const key = parsed(this.token);
      if (typeof key !== 'string') {
        this.fail();
        return;
      }
      this.key = key;
      this.at = 'colon';
      return;
    }
    this.at = this.isNamed ? 'done' : 'next';
    if (this.key === 'name') this.endName();
    else if (this.isArguments) this.endArguments();
  }

  private endName(): void {
    const name = parsed(this.token);
    if (this.name !== null) return;
    if (typeof name !== 'string' || name === '' || !this.accepts(name)) {
      this.fail();
      return;
    }
    this.name = name;
    if (this.hasArguments) this.commit();
  }

  private endArguments(): void {
    if (!this.streams) {
      // Some models write the arguments as a string that holds JSON.
      const value = parsed(this.token);
      const text = typeof value === 'string' ? value : this.token;
      this.pending = value === null || text.trim() === '' ? '{}' : text;
    }
    this.hasArguments = true;
    if (this.name !== null) this.commit();
  }

  private close(): void {
    if (this.name === null) {
      this.fail();
      return;
    }
    this.commit();
    if (!this.hasArguments) this.pending = '{}';
    this.at = this.many && (this.inList || this.list !== 'ends') ? 'between' : 'done';
  }

  private restart(): void {
    this.flush();
    this.at = 'key';
    this.name = null;
    this.announced = false;
    this.hasArguments = false;
  }

  private commit(): void {
    if (this.announced || this.name === null) return;
    this.state = 'call';
    this.announced = true;
    this.sink.begin(this.name);
  }

  private fail(): void {
    if (this.state === 'undecided') this.state = 'text';
    else {
      this.at = 'done';
      this.broken = true;
    }
  }

  private flush(): void {
    if (!this.announced || this.pending === '') return;
    this.sink.arguments(this.pending);
    this.pending = '';
  }

  /** The first arguments count. */
  private get isArguments(): boolean {
    return !this.hasArguments && (this.key === 'arguments' || this.key === 'parameters');
  }

  /** Whether the value is passed on while it comes: an object or a list. */
  private get streams(): boolean {
    return this.first === '{' || this.first === '[';
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
