// Pairs of texts are joined from what the tokenizer puts around each: `<s> query </s></s> document </s>`.

import { FailureError } from '@llmservice/crds';
import type { Tokenizer } from './tokenizer.js';

/**
 * Without a post-processor the tokenizer would put nothing around a text, and the ends of a pair would be lost.
 * @throws FailureError TokenizerInvalid
 */
export async function requirePairFrame(tokenizer: Tokenizer): Promise<void> {
  const ids = [...(await tokenizer.encode('', { addSpecialTokens: true }))];
  if (ids.length === 2 && ids.every((id) => tokenizer.isSpecial(id))) return;
  const found = ids.length === 0 ? 'nothing' : ids.map((id) => tokenizer.tokenName(id)).join(' ');
  const problem =
    `tokenizer.json cannot be used: its post_processor puts ${found} around a text; expected one special token before ` +
    'and one behind it, as pairs of texts are read: <s> query </s></s> document </s>';
  throw new FailureError('TokenizerInvalid', problem);
}
