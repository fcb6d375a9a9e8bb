// What is to be continued where no chat template writes it: texts, or their tokens.

import type { JSONSchema } from 'json-schema-to-ts';
import { boolean, idList, text } from '../body/field-schemas.js';

const listOf = <const Items extends JSONSchema>(items: Items, maxItems: number) =>
  ({ type: 'array', minItems: 1, maxItems, items }) as const;

const textOrIds = (most: number) =>
  ({
    description:
      'a text, a list of texts, a list of token ids (whole numbers from 0) or a list of such lists; no list may be empty',
    anyOf: [text, listOf(text, most), idList, listOf(idList, most)],
  }) as const;

/** Of :predict: what the user says, with what the system says before it, or the tokens of the whole prompt. */
export const predictFields = {
  prompt: {
    description: 'a text, or a list of token ids (whole numbers from 0), which may not be empty',
    anyOf: [text, idList],
  },
  system: text,
} as const;
export const promptFields = { prompt: textOrIds(256), add_special_tokens: boolean } as const;
export const inputFields = { input: textOrIds(2048) } as const;

/** A text, or its tokens. */
export type TextSource =
  | { readonly kind: 'text'; readonly text: string; readonly addSpecialTokens: boolean }
  | { readonly kind: 'ids'; readonly ids: readonly number[] };

type Ids = readonly number[];

/** One text or list of token ids, or a list of either. */
export function readTexts(
  given: string | Ids | readonly string[] | readonly Ids[],
  addSpecialTokens: boolean,
): TextSource[] {
  const one = (each: string | Ids): TextSource =>
    typeof each === 'string' ? { kind: 'text', text: each, addSpecialTokens } : { kind: 'ids', ids: each };
  if (typeof given === 'string') return [one(given)];
  return isIds(given) ? [one(given)] : given.map(one);
}

const isIds = (list: Ids | readonly (string | Ids)[]): list is Ids => typeof list[0] === 'number';
