// Whatever a tokenizer.json or a GGUF file's metadata holds, it makes a tokenizer or is refused with a reason.
// FUZZ_SECONDS: how long to look for one that does neither; without it, a number of changes that is always the same.

import { expect, test } from '@jest/globals';
import { parseGgufHeader } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { ggufFile, llamaGguf, mutated, randomNumbers } from '../../../checkpoint/src/formats/gguf.fixture.js';
import { ggufEosIds, ggufSpecialTokens, ggufTokenizerJson } from './gguf-tokenizer.js';
import { tokenizerJson } from './tokenizer.fixture.js';
import { Tokenizer } from './tokenizer.js';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 0);
const minChanges = 500;

function fromGguf(bytes: Uint8Array): string {
  const header = parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: true });
  if (header === null) throw new Error('the header cannot continue behind the file');
  ggufEosIds(header);
  ggufSpecialTokens(header);
  return ggufTokenizerJson(header);
}

test.each<[string, Uint8Array, (bytes: Uint8Array) => string]>([
  ['tokenizer.json', Buffer.from(tokenizerJson()), (bytes) => new TextDecoder().decode(bytes)],
  ['a GGUF file', ggufFile(llamaGguf()), fromGguf],
])(
  'changed bytes of %s make a tokenizer or are refused',
  async (_, whole, textOf) => {
    const random = randomNumbers(20260102);
    const isUsable = async (bytes: Uint8Array): Promise<boolean> => {
      try {
        const tokenizer = Tokenizer.fromJson(textOf(bytes), 'input');
        const ids = await tokenizer.encode('hello world', { addSpecialTokens: true });
        tokenizer.decode(ids, { skipSpecialTokens: false });
        return true;
      } catch (error) {
        if (error instanceof FailureError) return false;
        throw error;
      }
    };
    expect(await isUsable(whole)).toBe(true);
    const counts = { usable: 0, refused: 0 };
    const end = Date.now() + seconds * 1000;
    for (let i = 0; i < minChanges || Date.now() < end; i++) {
      if (await isUsable(mutated(whole, random))) counts.usable++;
      else counts.refused++;
    }
    expect(counts.usable).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  },
  seconds * 1000 + 60_000,
);
