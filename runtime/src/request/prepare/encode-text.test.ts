import { expect, test } from '@jest/globals';
import { tokenizerJson } from '../../tokens/tokenizer.fixture.js';
import { Tokenizer } from '../../tokens/tokenizer.js';
import { encodeText } from './encode-text.js';

const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');

// 'é' is two bytes, 195 and 169, each a token.
test.each([
  ['a text', { kind: 'text', text: 'é', addSpecialTokens: false } as const],
  ['ids', { kind: 'ids', ids: [195, 169] } as const],
])('%s with a token that the tokenizer has and the model has not is refused', async (_, source) => {
  const encoded = (vocabSize: number): Promise<Int32Array> =>
    encodeText(source, { tokenizer, vocabSize }, 'prompt');
  expect([...(await encoded(196))]).toEqual([195, 169]);
  await expect(encoded(195)).rejects.toThrow(
    "prompt has the token id 195, but the model's vocabulary ends at 194",
  );
});
