// Which tokenizers take linear time for any text, so that short texts are encoded in the server itself: byte pairs behind
// public patterns and steps that walk over the text once. What else a tokenizer.json may hold is a program of strangers.

import { isPublicPattern } from './pre-tokenizer-patterns.js';

/** A step of a tokenizer.json, or a list of them. */
interface Step {
  readonly type?: unknown;
  readonly normalizers?: unknown;
  readonly pretokenizers?: unknown;
  readonly pattern?: unknown;
  readonly content?: unknown;
  readonly prepend?: unknown;
}

/** What stands for one character is no longer than this. */
const maxContent = 8;
const plainNormalizers = new Set<unknown>(['NFC', 'NFD', 'NFKC', 'NFKD']);
const plainPreTokenizers = new Set<unknown>(['ByteLevel', 'Digits', 'Metaspace']);

/** @param file a parsed tokenizer.json; anything may stand in it */
export function isKnownTokenizer(file: unknown): boolean {
  const { normalizer, pre_tokenizer: preTokenizer, model, added_tokens: added } = fieldsOf(file);
  const { type = 'BPE', dropout = null, merges } = fieldsOf(model);
  return (
    type === 'BPE' &&
    Array.isArray(merges) &&
    dropout === null &&
    isAbsentOr(normalizer, isKnownNormalizer) &&
    isAbsentOr(preTokenizer, isKnownPreTokenizer) &&
    // The white space beside them is looked for from each of them anew.
    listOf(added).every((token) => {
      const { lstrip, rstrip } = fieldsOf(token);
      return lstrip !== true && rstrip !== true;
    })
  );
}

function isKnownNormalizer(step: Step): boolean {
  if (step.type === 'Sequence')
    return listOf(step.normalizers).every((each) => isKnownNormalizer(fieldsOf(each)));
  if (step.type === 'Prepend') return isShort(step.prepend);
  if (step.type === 'Replace') return isShort(fieldsOf(step.pattern)['String']) && isShort(step.content);
  return plainNormalizers.has(step.type);
}

function isKnownPreTokenizer(step: Step): boolean {
  if (step.type === 'Sequence')
    return listOf(step.pretokenizers).every((each) => isKnownPreTokenizer(fieldsOf(each)));
  if (step.type !== 'Split') return plainPreTokenizers.has(step.type);
  const { String: text, Regex: pattern } = fieldsOf(step.pattern);
  return isPublicPattern(pattern) || isShort(text);
}

const isShort = (text: unknown): boolean =>
  typeof text === 'string' && text.length > 0 && text.length <= maxContent;

function isAbsentOr(step: unknown, is: (step: Step) => boolean): boolean {
  return step === undefined || step === null || is(fieldsOf(step));
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
