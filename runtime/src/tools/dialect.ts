// The forms of tool calls that this server reads: what stands around them, and what vLLM calls their parsers.

import type { Tokenizer } from '../tokens/tokenizer.js';

/** What stands around a block of calls. */
export interface Marker {
  readonly text: string;
  /** The one token that it is: then its letters, spelled with other tokens, are prose. Null: the vocabulary has none. */
  readonly id: number | null;
  /** Whether its text is left out of answers like that of other control tokens. */
  readonly isSpecial: boolean;
}

export interface ToolDialect {
  /** Of what stands inside of a block. */
  readonly kind: 'qwenJson' | 'qwenXml' | 'llamaJson';
  readonly begin: Marker;
  /** Null: a block ends with its object, or with the answer. */
  readonly end: Marker | null;
  /** Whether an answer that begins with a call needs no marker. */
  readonly bare: boolean;
}

/** Which parsers of vLLM read the same; https://docs.vllm.ai/en/latest/features/tool_calling/ has their names. */
export const toolCallParsers: ReadonlyMap<string, ToolDialect['kind']> = new Map([
  ['hermes', 'qwenJson'],
  ['qwen3_coder', 'qwenXml'],
  ['qwen3_xml', 'qwenXml'],
  ['llama3_json', 'llamaJson'],
]);

export const llamaBegin = '<|python_tag|>';

export function dialectOf(kind: ToolDialect['kind'], tokenizer: Tokenizer): ToolDialect {
  const marker = (text: string): Marker => {
    const id = tokenizer.tokenId(text);
    return { text, id, isSpecial: id !== null && tokenizer.isSpecial(id) };
  };
  return kind === 'llamaJson'
    ? { kind, begin: marker(llamaBegin), end: null, bare: true }
    : { kind, begin: marker('<tool_call>'), end: marker('</tool_call>'), bare: false };
}
