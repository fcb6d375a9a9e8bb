// Answers with calls for tests: dialects, tools, and a way to write marker tokens in a text.

import { dialectOf, type MarkerTokens, type ToolDialect } from './dialect.js';
import type { ToolUse } from './tool.js';
import { ToolReader } from './tool-reader.js';
import { wholeCalls, type WholeCall } from './whole-calls.js';

/** Stand for the marker tokens in the texts of tests. */
export const begin = '\u27e6';
export const end = '\u27e7';
export const beginId = 1002;
export const endId = 1003;
export const argsId = 1004;
export const callIdId = 1005;
export const quoteId = 1006;

/** A vocabulary with markers, as control tokens or not. */
const vocabulary = (ids: Readonly<Record<string, number>>, areSpecial = false): MarkerTokens => ({
  tokenId: (text) => ids[text] ?? null,
  isSpecial: () => areSpecial,
});
const qwen = vocabulary({ '<tool_call>': beginId, '</tool_call>': endId });
const llama = vocabulary({ '<|python_tag|>': beginId }, true);
const mistral = vocabulary({ '[TOOL_CALLS]': beginId, '[ARGS]': argsId, '[CALL_ID]': callIdId }, true);
const deepSeek = vocabulary({ '<｜tool▁calls▁begin｜>': beginId, '<｜tool▁calls▁end｜>': endId });
const apriel = vocabulary({ '<tool_calls>': beginId, '</tool_calls>': endId });
const miniMax = vocabulary({ '<minimax:tool_call>': beginId, '</minimax:tool_call>': endId });
const gemma = vocabulary({ '<|tool_call>': beginId, '<tool_call|>': endId, '<|"|>': quoteId });
const none = vocabulary({});

export const dialects = {
  qwenJson: dialectOf('qwenJson', qwen),
  qwenXml: dialectOf('qwenXml', qwen),
  glmXml: dialectOf('glmXml', qwen),
  miniMaxXml: dialectOf('miniMaxXml', miniMax),
  llamaJson: dialectOf('llamaJson', llama),
  mistralNamed: dialectOf('mistralNamed', mistral),
  mistralJson: dialectOf('mistralJson', mistral),
  deepSeek: dialectOf('deepSeek', deepSeek),
  deepSeekBare: dialectOf('deepSeekBare', deepSeek),
  miniMaxJson: dialectOf('miniMaxJson', apriel),
  aprielJson: dialectOf('aprielJson', apriel),
  xlamJson: dialectOf('xlamJson', qwen),
  gemma: dialectOf('gemma', gemma),
  /** Of vocabularies without the markers. */
  spelled: dialectOf('qwenJson', none),
  spelledXml: dialectOf('qwenXml', none),
  spelledSeed: dialectOf('seedXml', none),
  spelledMiniMax: dialectOf('miniMaxXml', none),
  spelledGlm: dialectOf('glmXml', none),
  spelledDeepSeek: dialectOf('deepSeek', none),
  spelledFunctionary: dialectOf('functionary', none),
  spelledNemotron: dialectOf('nemotronJson', none),
  spelledXlam: dialectOf('xlamJson', none),
  spelledGemma: dialectOf('gemma', none),
  spelledFunctionGemma: dialectOf('functionGemma', none),
} as const satisfies Record<string, ToolDialect>;

export type DialectName = keyof typeof dialects;

const properties = {
  text: { type: 'string' },
  count: { type: 'integer' },
  ratio: { type: 'number' },
  flag: { type: 'boolean' },
  list: { type: 'array', items: { type: 'number' } },
  place: { $ref: '#/$defs/Place' },
  maybe: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  unit: { enum: ['c', 'f'] },
};

export const use: ToolUse = {
  tools: [
    {
      name: 'f',
      parameters: {
        type: 'object',
        properties,
        $defs: { Place: { type: 'object', properties: { x: { type: 'number' } } } },
      },
      strict: false,
    },
    { name: 'ping', parameters: null, strict: false },
  ],
  choice: 'auto',
  parallel: true,
};

export interface Read {
  readonly content: string;
  readonly calls: readonly Omit<WholeCall, 'id'>[];
  readonly asksForCalls: boolean;
}

interface ReadOptions {
  readonly cut?: boolean;
  readonly parallel?: boolean;
  readonly choice?: ToolUse['choice'];
}

/** An answer that is easily misread, and what is read of it. */
export interface AnswerCase {
  readonly dialects: readonly DialectName[];
  readonly answer: string;
  /** Default: empty. */
  readonly content?: string;
  /** Name and text of the arguments of each. */
  readonly calls: readonly (readonly [string, string])[];
  readonly options?: ReadOptions;
  /** Default: with calls. */
  readonly asksForCalls?: boolean;
}

/** Marker tokens as the letters of the dialect's markers. */
export function spelled(dialect: DialectName, text: string): string {
  const markers = dialects[dialect];
  return text.replaceAll(begin, markers.begin.text).replaceAll(end, markers.end?.text ?? '');
}

/** Numbers for fifty calls. */
export const fifty = Array.from({ length: 50 }, (_, i) => i);

/** @param pieces of the answer, in which `begin` and `end` are marker tokens */
export function readPieces(
  dialect: DialectName,
  pieces: readonly string[],
  { cut = false, parallel = true, choice = 'auto' }: ReadOptions = {},
): Read {
  let ids = 0;
  const reader = new ToolReader({
    dialect: dialects[dialect],
    use: { ...use, parallel, choice },
    newCallId: () => `call_${String(ids++)}`,
    skipSpecialTokens: true,
  });
  const taken = [];
  for (const piece of pieces) {
    for (const part of piece.split(/([\u27e6\u27e7])/)) {
      if (part === begin || part === end) reader.marker(part === begin ? 'begin' : 'end');
      else reader.text(part);
    }
    taken.push(reader.take());
  }
  reader.end(cut);
  taken.push(reader.take());
  const calls = wholeCalls(taken.flatMap(({ toolCalls }) => toolCalls));
  return {
    content: taken.map(({ content }) => content).join(''),
    calls: calls.map(({ name, arguments: text }) => ({ name, arguments: text })),
    asksForCalls: reader.asksForCalls,
  };
}
