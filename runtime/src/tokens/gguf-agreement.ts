// Whether a tokenizer.json beside a GGUF file spells the tokens that the file's SentencePiece model has: taken instead of it, one
// of another model would turn every text into other tokens.

import type { GgufHeader } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { quote, tokenKinds, TokenizerKeys } from './gguf-tokenizer-keys.js';

/** Control tokens may be called otherwise: what text is made of may not. */
const compared: readonly number[] = [tokenKinds.normal, tokenKinds.byte];

/**
 * Other tokenizers than SentencePiece, and what is no JSON, pass.
 * @param text of the tokenizer.json that errors call `name`
 * @throws FailureError TokenizerInvalid, naming the first token that differs
 */
export function checkAgreement(text: string, name: string, header: GgufHeader): void {
  const keys = new TokenizerKeys(header);
  if (keys.get('model') !== 'llama' || keys.get('tokens') === undefined) return;
  const tokens = keys.texts('tokens');
  const kinds = keys.numbers('token_type', tokens.length);
  const other = vocabularyOf(text).find(([token, id]) => {
    const isCompared = id < tokens.length && compared.includes(kinds?.[id] ?? tokenKinds.normal);
    return isCompared && tokens[id] !== token;
  });
  if (other === undefined) return;
  const [token, id] = other;
  throw new FailureError(
    'TokenizerInvalid',
    `${name}: token ${String(id)} is ${quote(token)}, but ${quote(tokens[id])} in tokenizer.ggml.tokens of ${header.file}, whose ` +
      'SentencePiece model it would replace; remove tokenizer.json, or use that of the same model',
    { file: name },
  );
}

function vocabularyOf(text: string): (readonly [string, number])[] {
  const vocab = vocabIn(text);
  if (Array.isArray(vocab)) {
    return vocab.flatMap((entry: unknown, id) =>
      Array.isArray(entry) && typeof entry[0] === 'string' ? [[entry[0], id] as const] : [],
    );
  }
  if (typeof vocab !== 'object' || vocab === null) return [];
  return Object.entries(vocab).flatMap(([token, id]) =>
    Number.isInteger(id) && Number(id) >= 0 ? [[token, Number(id)] as const] : [],
  );
}

function vocabIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { model?: { vocab?: unknown } } | null)?.model?.vocab;
  } catch {
    return undefined; // whoever reads the tokenizer says what is wrong
  }
}
