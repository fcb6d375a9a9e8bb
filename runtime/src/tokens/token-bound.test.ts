import { describe, expect, test } from '@jest/globals';
import { tokenizerJson } from './tokenizer.fixture.js';
import { Tokenizer } from './tokenizer.js';
import { TokenBound } from './token-bound.js';

interface File {
  normalizer: unknown;
  pre_tokenizer: unknown;
  added_tokens: { content: string; rstrip: boolean }[];
  model: { vocab: Record<string, number>; merges: string[] };
}
const parsed = (): File => JSON.parse(tokenizerJson()) as File;
const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');

async function counted(text: string): Promise<number> {
  return (await tokenizer.encode(text, { addSpecialTokens: false })).length;
}

describe('TokenBound', () => {
  // The longest tokens of the fixture are ` world` and, of those that are added, `<|bos|>` and `<|end|>`.
  test.each([
    ['letters that one token has', ' world'.repeat(100), 100],
    ['letters of which one begins a token of its own only', 'world'.repeat(100), 167],
    ['letters that no token joins', 'z'.repeat(100), 100],
    ['added tokens', '<|end|>'.repeat(100), 100],
    ['spaces', ' '.repeat(600), 100],
    ['nothing', '', 0],
  ])('counts %s', async (_, text, fewest) => {
    expect(await tokenizer.fewestTokens([text])).toEqual([fewest]);
    expect(await counted(text)).toBeGreaterThanOrEqual(fewest);
  });

  test('walks over a long text in steps, as over a short one', () => {
    const bound = TokenBound.of(parsed(), 'byteLevel');
    const texts = ['wörld '.repeat(500_000), 'x'];
    const steps = bound?.fewestTokens(texts);
    let taken = 0;
    let step = steps?.next();
    for (; step?.done === false; step = steps?.next()) taken += 1;
    expect(taken).toBeGreaterThan(20);
    // What stands at the end of a step counts as it does anywhere.
    const [fewest = 0] = step?.value ?? [];
    const [ofFew = 0] = bound?.fewestTokens(['wörld '.repeat(1000)]).next().value ?? [];
    expect(Math.abs(fewest - 500 * ofFew)).toBeLessThan(500);
  });

  test.each([
    'e\u0301'.repeat(50),
    '\u212a'.repeat(50),
    '\u1100\u1161\u11a8'.repeat(50),
    'α\u0313\u0300\u0345'.repeat(50),
    '日本語'.repeat(50),
    '👩‍👩‍👧'.repeat(20),
    '\ud800'.repeat(20),
    'hello\u0301 world<|end|>\u212a'.repeat(20),
  ])('never counts more than there are: %j', async (text) => {
    const [fewest] = await tokenizer.fewestTokens([text]);
    expect(fewest).toBeLessThanOrEqual(await counted(text));
  });

  test.each<[string, (file: File) => void]>([
    ['white space beside a token', (file) => (file.added_tokens[0]!.rstrip = true)],
    [
      'characters that a step replaces',
      (file) => (file.normalizer = { type: 'Replace', pattern: { String: 'ab' }, content: 'a' }),
    ],
    [
      'what a pattern does not match',
      (file) => (file.pre_tokenizer = { type: 'Split', pattern: { String: ' ' }, behavior: 'Removed' }),
    ],
    ['bytes without a token', (file) => delete file.model.vocab['z']],
    ['what an unknown step does', (file) => (file.normalizer = { type: 'Strip' })],
  ])('is not known where the tokenizer may leave out %s', (_, change) => {
    const file = parsed();
    expect(TokenBound.of(file, 'byteLevel')).not.toBeNull();
    change(file);
    expect(TokenBound.of(file, 'byteLevel')).toBeNull();
  });
});
