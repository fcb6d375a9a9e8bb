import { expect, test } from '@jest/globals';
import { requirePairFrame } from './require-pair-frame.js';
import { tokenizerJson } from './tokenizer.fixture.js';
import { Tokenizer } from './tokenizer.js';

const special = (id: string): object => ({ SpecialToken: { id, type_id: 0 } });
const text = { Sequence: { id: 'A', type_id: 0 } };

/** Of a file with these parts around a text; null: with no post-processor. */
function framed(single: readonly object[] | null): Promise<void> {
  const { post_processor: template, ...file } = JSON.parse(tokenizerJson()) as {
    post_processor: { special_tokens: object };
  };
  const end = { id: '<|end|>', ids: [266], tokens: ['<|end|>'] };
  const tokens = { ...template.special_tokens, '<|end|>': end };
  const processor = single && { ...template, single, special_tokens: tokens };
  const json = JSON.stringify({ ...file, post_processor: processor });
  return requirePairFrame(Tokenizer.fromJson(json, 'tokenizer.json'));
}

test('a text between two special tokens can be one of a pair', async () => {
  await expect(framed([special('<|bos|>'), text, special('<|end|>')])).resolves.toBeUndefined();
});

test.each([
  ['nothing', null],
  ['<|bos|>', [special('<|bos|>'), text]],
])('%s around a text is refused', async (found, single) => {
  await expect(framed(single)).rejects.toMatchObject({
    reason: 'TokenizerInvalid',
    message: expect.stringContaining(`puts ${found} around a text`),
  });
});
