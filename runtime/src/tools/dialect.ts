// How a checkpoint writes calls of tools: learnt from its chat template, which shows the model its own calls again.

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

const llamaBegin = '<|python_tag|>';

/**
 * @param template text of the chat templates; null: the checkpoint has none
 * @returns null when the template does not show the model the tools, or calls them in a way that is not known
 */
export function findDialect(template: string | null, tokenizer: Tokenizer): ToolDialect | null {
  if (template === null || !/\btools\b/.test(template)) return null;
  const marker = (text: string): Marker => {
    const id = tokenizer.tokenId(text);
    return { text, id, isSpecial: id !== null && tokenizer.isSpecial(id) };
  };
  if (template.includes('<tool_call>')) {
    const kind = template.includes('<function=') ? 'qwenXml' : 'qwenJson';
    return { kind, begin: marker('<tool_call>'), end: marker('</tool_call>'), bare: false };
  }
  const isLlama = template.includes('"parameters"') && tokenizer.tokenId(llamaBegin) !== null;
  return isLlama ? { kind: 'llamaJson', begin: marker(llamaBegin), end: null, bare: true } : null;
}
