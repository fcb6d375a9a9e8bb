import { describe, expect, test } from '@jest/globals';
import { parseGgufHeader, type GgufHeader } from '@llmservice/checkpoint';
import { ggufFile, llamaGguf, type GgufFixture } from '../../../checkpoint/src/formats/gguf.fixture.js';
import { ggufEosIds, ggufSpecialTokens, ggufTokenizerJson } from './gguf-tokenizer.js';
import { tokenizerJson } from './tokenizer.fixture.js';
import { Tokenizer } from './tokenizer.js';

function headerOf(keys: GgufFixture['keys'] = {}): GgufHeader {
  const bytes = ggufFile(llamaGguf({ keys }));
  const header = parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: true });
  if (header === null) throw new Error('the whole file is there');
  return header;
}

interface TokenizerFile {
  readonly model: { readonly vocab: Record<string, number>; readonly merges: string[] };
  readonly added_tokens: { readonly id: number; readonly content: string }[];
}

/** The tokenizer of tokenizer.fixture.ts as GGUF metadata. */
function fixtureKeys(changes: GgufFixture['keys'] = {}): GgufFixture['keys'] {
  const { model, added_tokens: added } = JSON.parse(tokenizerJson()) as TokenizerFile;
  const byId = Object.entries(model.vocab).sort(([, a], [, b]) => a - b);
  const tokens = [...byId.map(([token]) => token), ...added.map(({ content }) => content)];
  return {
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': tokens.map((_, id) => (added.some((token) => token.id === id) ? 3 : 1)),
    'tokenizer.ggml.merges': model.merges,
    'tokenizer.ggml.bos_token_id': added[0]!.id,
    'tokenizer.ggml.eos_token_id': added[1]!.id,
    ...changes,
  };
}

function tokenizerOf(keys: GgufFixture['keys']): Tokenizer {
  return Tokenizer.fromJson(ggufTokenizerJson(headerOf(keys)), 'model.gguf');
}

describe('the tokenizer of a GGUF file', () => {
  test.each(['hello world', 'naïve café — 日本語 🦙', "it's 12345 <|end|> x", ' \n\t  spaces'])(
    'encodes as the tokenizer.json that it came from: %j',
    async (text) => {
      const original = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
      const own = tokenizerOf(fixtureKeys());
      const plain = { addSpecialTokens: false };
      expect(await own.encode(text, plain)).toEqual(await original.encode(text, plain));
    },
  );

  test.each<[string, GgufFixture['keys'], boolean]>([
    ['of qwen2, which has no beginning', {}, false],
    ['of qwen2 that asks for one', { 'tokenizer.ggml.add_bos_token': true }, true],
    ['of llama-bpe, which has one', { 'tokenizer.ggml.pre': 'llama-bpe' }, true],
    [
      'of llama-bpe that asks for none',
      { 'tokenizer.ggml.pre': 'llama-bpe', 'tokenizer.ggml.add_bos_token': false },
      false,
    ],
  ])('begins raw prompts as its file says: one %s', async (_, changes, begins) => {
    const tokenizer = tokenizerOf(fixtureKeys(changes));
    const ids = await tokenizer.encode('hello', { addSpecialTokens: true });
    expect(ids[0] === tokenizer.tokenId('<|bos|>')).toBe(begins);
  });

  test('splits digits as its kind does', async () => {
    const digits = async (pre: string): Promise<number> => {
      const tokens = [...fixtureTokens(), '12', '123'];
      const kinds = tokens.map(() => 1);
      const keys = { 'tokenizer.ggml.tokens': tokens, 'tokenizer.ggml.token_type': kinds };
      const merges = { 'tokenizer.ggml.merges': ['1 2', '12 3'], 'tokenizer.ggml.pre': pre };
      const tokenizer = tokenizerOf({ ...fixtureKeys(), ...keys, ...merges });
      return (await tokenizer.encode('1234', { addSpecialTokens: false })).length;
    };
    const names = ['qwen2', 'deepseek-r1-qwen', 'qwen35', 'llama-bpe', 'glm4', 'smollm'];
    expect(await Promise.all(names.map(digits))).toEqual([4, 4, 4, 2, 2, 4]);
  });

  test('leaves out unused tokens, names special ones, and knows which end a text', () => {
    const tokenizer = tokenizerOf({});
    expect([tokenizer.tokenId('[PAD9]'), tokenizer.tokenId('<|im_end|>')]).toEqual([null, 8]);
    expect(ggufSpecialTokens(headerOf())).toEqual({ eos_token: '<|im_end|>' });
    expect(ggufEosIds(headerOf({ 'tokenizer.ggml.eos_token_id': 0 }))).toEqual([0, 8]);
  });

  test('of Gemma 4 joins the pairs that the file lists, with bytes for what none spells and no space before a text', async () => {
    const tokens = ['<bos>', 'h', 'e', '\u2581', 'he', '\u2581he', '<0x7A>', '<turn|>'];
    const header = headerOf({
      'tokenizer.ggml.model': 'gemma4',
      'tokenizer.ggml.tokens': tokens,
      'tokenizer.ggml.token_type': [3, 1, 1, 1, 1, 1, 6, 3],
      'tokenizer.ggml.merges': ['h e', '\u2581 he'],
      'tokenizer.ggml.bos_token_id': 0,
      'tokenizer.ggml.eos_token_id': 7,
    });
    const tokenizer = Tokenizer.fromJson(ggufTokenizerJson(header), 'model.gguf');
    const ids = await tokenizer.encode('he hez', { addSpecialTokens: true });
    expect([...ids]).toEqual([0, 4, 5, 6]);
    expect(tokenizer.decode(ids.slice(1), { skipSpecialTokens: false })).toBe('he hez');
    expect(ggufEosIds(header)).toEqual([7]);
  });

  test.each<[string, GgufFixture['keys'], string]>([
    ['WordPiece', { 'tokenizer.ggml.model': 'bert' }, 'Put a tokenizer.json beside the file'],
    ['an unknown pre-tokenizer', { 'tokenizer.ggml.pre': 'viking' }, 'is "viking"; known are'],
    ['SentencePiece without scores', { 'tokenizer.ggml.model': 'llama' }, 'scores is missing'],
    [
      'scores for other tokens',
      { 'tokenizer.ggml.model': 'llama', 'tokenizer.ggml.scores': [1, 2] },
      'scores is not a list of 10 numbers',
    ],
    [
      'a token of SentencePiece without end',
      {
        'tokenizer.ggml.model': 'llama',
        'tokenizer.ggml.tokens': Array.from({ length: 10 }, (_, id) => 'a'.repeat(200 * (id + 1))),
        'tokenizer.ggml.token_type': Array.from({ length: 10 }, () => 1),
        'tokenizer.ggml.scores': Array.from({ length: 10 }, () => 0),
      },
      'has a token of 1200 characters',
    ],
    [
      'more pairs of SentencePiece than a vocabulary has',
      sentencePieces(Array.from({ length: 600 }, (_, id) => 'a'.repeat(id + 1))),
      '600 tokens that more than 75136 pairs',
    ],
    [
      'more of SentencePiece than can be cut',
      sentencePieces(Array.from({ length: 300 }, (_, id) => String(id).padEnd(1000, 'b'))),
      '300 tokens that are too long',
    ],
    ['kinds for other tokens', { 'tokenizer.ggml.token_type': [1, 1] }, 'not a list of 10 numbers'],
    ['an id beyond its tokens', { 'tokenizer.ggml.eos_token_id': 10 }, 'eos_token_id is 10'],
    ['a merge of one', { 'tokenizer.ggml.merges': ['he'] }, 'which is no pair'],
    ['tokens twice', { 'tokenizer.ggml.tokens': Array.from({ length: 10 }, () => 'a') }, 'tokens twice'],
    ['tokens that are no texts', { 'tokenizer.ggml.tokens': [1, 2] }, 'is not a list of texts'],
  ])('is refused with %s', (_, keys, message) => {
    const refused = expect(() => {
      const header = headerOf(keys);
      ggufEosIds(header);
      ggufTokenizerJson(header);
    });
    refused.toThrow(expect.objectContaining({ reason: 'TokenizerInvalid' }));
    refused.toThrow(message);
  });
});

function fixtureTokens(): string[] {
  return fixtureKeys()['tokenizer.ggml.tokens'] as string[];
}

function sentencePieces(tokens: readonly string[]): GgufFixture['keys'] {
  return {
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': tokens.map(() => 1),
    'tokenizer.ggml.scores': tokens.map((_, id) => tokens.length - id),
  };
}
