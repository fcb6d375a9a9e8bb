import { describe, expect, test } from '@jest/globals';
import { blankIds, bytesOfToken, dropsFirstSpace, spellingOf } from './token-bytes.js';

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

  test.each([
    ['byteLevel', { Ġ: 7, ĊĊ: 3, Ġa: 1, a: 0, čĊ: 9 }, [3, 7, 9]],
    ['byteFallback', { '▁▁': 7, '<0x0A>': 3, '<0x41>': 1, '\n': 2, '▁a': 5 }, [2, 3, 7]],
  ] as const)('%s: blank tokens of %j are %j', (spelling, vocabulary, ids) => {
    expect([...blankIds(vocabulary, spelling)]).toEqual(ids);
  });

  test('the spelling comes from the decoder, nested or not', () => {
    expect(spellingOf({ type: 'ByteLevel' })).toBe('byteLevel');
    const llama2 = { type: 'Sequence', decoders: [{ type: 'Replace' }, { type: 'ByteFallback' }] };
    expect(spellingOf(llama2)).toBe('byteFallback');
    expect(spellingOf({ type: 'WordPiece' })).toBeNull();
    expect(spellingOf(null)).toBeNull();
  });

  test('a first space goes where the decoder takes it away: Llama 2’s does, Gemma’s and Qwen’s do not', () => {
    const gemma = [{ type: 'Replace' }, { type: 'ByteFallback' }, { type: 'Fuse' }];
    expect(dropsFirstSpace({ type: 'Sequence', decoders: gemma })).toBe(false);
    const llama2 = [...gemma, { type: 'Strip', content: ' ', start: 1, stop: 0 }];
    expect(dropsFirstSpace({ type: 'Sequence', decoders: llama2 })).toBe(true);
    expect(dropsFirstSpace({ type: 'ByteLevel' })).toBe(false);
    expect(dropsFirstSpace(null)).toBe(false);
  });
});
