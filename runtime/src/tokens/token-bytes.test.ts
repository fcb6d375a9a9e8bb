import { describe, expect, test } from '@jest/globals';
import { bytesOfToken, spellingOf } from './token-bytes.js';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe('token bytes', () => {
  test.each([
    ['byteLevel', 'Ġworld', ' world'],
    ['byteLevel', 'Ċ', '\n'],
    ['byteLevel', 'Ã©', 'é'],
    ['byteLevel', '<|im_end|>', '<|im_end|>'],
    ['byteLevel', 'a token', 'a token'],
    ['byteFallback', '▁world', ' world'],
    ['byteFallback', '<0x0A>', '\n'],
  ] as const)('%s spells %j as %j', (spelling, token, expected) => {
    expect(text(bytesOfToken(token, spelling))).toBe(expected);
  });

  test('the spelling comes from the decoder, nested or not', () => {
    expect(spellingOf({ type: 'ByteLevel' })).toBe('byteLevel');
    const llama2 = { type: 'Sequence', decoders: [{ type: 'Replace' }, { type: 'ByteFallback' }] };
    expect(spellingOf(llama2)).toBe('byteFallback');
    expect(spellingOf({ type: 'WordPiece' })).toBeNull();
    expect(spellingOf(null)).toBeNull();
  });
});
