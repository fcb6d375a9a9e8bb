// The inputs of OpenAI's custom tools, which are plain texts: the model is given functions with one text as argument, and
// of what it writes for them the text is reported. Incremental; one instance per answer.

import type { ToolCallDelta } from '../../tools/tool.js';

export class CustomInputs {
  /** Of the call that is open; null: it is one of a function. */
  #open: InputText | null = null;

  /** @param names of the custom tools */
  constructor(private readonly names: ReadonlySet<string>) {}

  /** The delta with inputs in the place of the arguments that hold them. */
  of<Delta extends { readonly toolCalls: readonly ToolCallDelta[] }>(delta: Delta): Delta {
    return { ...delta, toolCalls: this.read(delta.toolCalls) };
  }

  read(calls: readonly ToolCallDelta[]): readonly ToolCallDelta[] {
    if (this.names.size === 0) return calls;
    return calls.map((call) => {
      if (call.start !== null) this.#open = this.names.has(call.start.name) ? new InputText() : null;
      return this.#open === null
        ? call
        : { ...call, arguments: this.#open.push(call.arguments), isInput: true };
    });
  }
}

/** What arguments begin with that are an input alone. */
const opening = '{"input":"';
const spacedOpening = /^\s*\{\s*"input"\s*:\s*"/;
const plain = /[^"\\]*/y;
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

class InputText {
  /** `raw`: the arguments are others, and reported as they are. */
  #state: 'opening' | 'text' | 'raw' | 'done' = 'opening';
  /** Text that may still be the beginning of an opening or of an escape. */
  #held = '';

  /** What the arguments' next piece adds to the input. */
  push(fragment: string): string {
    const text = this.#held + fragment;
    this.#held = '';
    switch (this.#state) {
      case 'opening':
        return this.#begin(text);
      case 'text':
        return this.#decode(text);
      case 'raw':
        return text;
      case 'done':
        return '';
    }
  }

  #begin(text: string): string {
    const [begun] = spacedOpening.exec(text) ?? [];
    if (begun !== undefined) {
      this.#state = 'text';
      return this.#decode(text.slice(begun.length));
    }
    if (opening.startsWith(text.replace(/\s/g, ''))) {
      this.#held = text;
      return '';
    }
    this.#state = 'raw';
    return text;
  }

  /** Of a JSON string's inside, up to its end. */
  #decode(text: string): string {
    let decoded = '';
    for (let at = 0; at < text.length;) {
      plain.lastIndex = at;
      const [run = ''] = plain.exec(text) ?? [];
      decoded += run;
      at += run.length;
      if (at === text.length) return decoded;
      if (text[at] === '"') {
        this.#state = 'done';
        return decoded;
      }
      const length = lengthOfEscape(text, at);
      const escape = text.slice(at, at + length);
      if (escape.length < length) {
        this.#held = escape;
        return decoded;
      }
      decoded += unescaped(escape);
      at += length;
    }
    return decoded;
  }
}

/** Of one whole character: a piece must not end within two escapes that make one. */
function lengthOfEscape(text: string, at: number): number {
  if (text[at + 1] !== 'u') return 2;
  const isFirstOfTwo = /^d[89ab]/i.test(text.slice(at + 2, at + 4));
  return isFirstOfTwo && '\\u'.startsWith(text.slice(at + 6, at + 8)) ? 12 : 6;
}

function unescaped(escape: string): string {
  const letter = escape.charAt(1);
  if (letter === 'u')
    return escape.replace(/\\u(.{4})/gs, (_, unit: string) => String.fromCharCode(parseInt(unit, 16)));
  return escapes[letter] ?? letter;
}
