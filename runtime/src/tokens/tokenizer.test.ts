import { describe, expect, jest, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { Tokenizer as ReferenceTokenizer } from 'tokenizers';
import { makeLogger } from '../log/logger.js';
import { TextProcesses } from '../text-processes/text-processes.js';
import { byteFallbackTokenizerJson, tokenizerJson } from './tokenizer.fixture.js';
import { longTextChars, Tokenizer } from './tokenizer.js';

const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
const plain = { addSpecialTokens: false };
const texts = [
  'hello world',
  '',
  ' \n\t  spaces',
  'naïve café — 日本語 🦙👩‍👩‍👧 e\u0301',
  "it's 12345 <|end|> x",
  '\ufeffbom',
];

describe('Tokenizer', () => {
  test('applies merges within the pieces of the pre-tokenizer', async () => {
    const ids = await tokenizer.encode('hello world', plain);
    expect([...ids].map((id) => tokenizer.tokenText(id))).toEqual(['hello', ' world']);
  });

  test('adds the BOS of the post-processor only when asked to, and ignores the file’s truncation', async () => {
    const bos = tokenizer.tokenId('<|bos|>');
    expect((await tokenizer.encode('a b c d e', { addSpecialTokens: true }))[0]).toBe(bos);
    const ids = await tokenizer.encode('a b c d e', plain);
    expect(ids[0]).not.toBe(bos);
    expect(ids.length).toBe(9);
  });

  test('reads special tokens in the text as one id', async () => {
    const ids = await tokenizer.encode('hello<|end|>', plain);
    expect([...ids]).toEqual([tokenizer.tokenId('hello'), tokenizer.tokenId('<|end|>')]);
  });

  test('encodes long texts in another process, to the same ids', async () => {
    const line = 'hello<|end|> world 日本語\n';
    const lines = Math.ceil(longTextChars / line.length);
    const [once, bos] = [await tokenizer.encode(line, plain), tokenizer.tokenId('<|bos|>')];
    const processes = await TextProcesses.start({
      tokenizerJson: tokenizerJson(),
      tokenizerName: 'tokenizer.json',
      template: null,
      roomMb: 512,
      logger: makeLogger('error'),
    });
    const served = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json', processes);
    const here = jest.spyOn(ReferenceTokenizer.prototype, 'encode');
    const ids = await served.encode(line.repeat(lines), { addSpecialTokens: true });
    expect(here).not.toHaveBeenCalled();
    here.mockRestore();
    await processes.close();
    expect([...ids]).toEqual([bos, ...Array.from({ length: lines }, () => [...once]).flat()]);
  });

  test.each(texts)('decodes what it encoded, up to NFC: %j', async (text) => {
    const ids = await tokenizer.encode(text, plain);
    expect(tokenizer.decode(ids, { skipSpecialTokens: false })).toBe(text.normalize('NFC'));
  });

  test.each(texts)('reads byte pairs with bytes to fall back on, as Gemma has them: %j', async (text) => {
    const gemma = Tokenizer.fromJson(byteFallbackTokenizerJson(), 'tokenizer.json');
    const ids = await gemma.encode(text, { addSpecialTokens: true });
    expect(gemma.tokenText(ids[0]!)).toBe('<bos>');
    expect(gemma.decode(ids.slice(1), { skipSpecialTokens: false })).toBe(text);
    const hello = await gemma.encode('hello hé', plain);
    expect(Array.from(hello, (id) => gemma.tokenText(id)).slice(0, 3)).toEqual(['hello', ' ', 'h']);
    expect(hello).toHaveLength(5);
  });

  test('leaves out special tokens when asked to, and ids outside the vocabulary always', async () => {
    const ids = await tokenizer.encode('hello<|end|> world', plain);
    expect(tokenizer.decode([...ids, 99_999], { skipSpecialTokens: true })).toBe('hello world');
  });

  test.each([
    ['not JSON', '{'],
    ['no object', 'null'],
    [
      'a decoder it does not know',
      JSON.stringify({
        ...JSON.parse(tokenizerJson()),
        decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
      }),
    ],
    [
      'a template with a token that is not defined',
      tokenizerJson().replace('"special_tokens":{"<|bos|>"', '"special_tokens":{"<|box|>"'),
    ],
    // The reference implementation would end the process.
    ['a merge longer than every token', tokenizerJson().replace('"Ġworld":', '"x":')],
    [
      'a merge whose second part is shorter than what it is to lose',
      tokenizerJson().replace('"continuing_subword_prefix":""', '"continuing_subword_prefix":"######"'),
    ],
  ])('says why a file cannot be used: %s', (_, text) => {
    expect(() => Tokenizer.fromJson(text, 'tokenizer.json')).toThrow(FailureError);
  });
});
