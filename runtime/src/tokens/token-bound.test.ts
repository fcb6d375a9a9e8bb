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

  test('walks over a long text in steps, at whose ends characters count as anywhere', () => {
    const bound = TokenBound.of(parsed(), 'byteLevel');
    const walk = (text: string): { fewest: number; steps: number } => {
      const walking = bound?.fewestTokens([text]);
      let step = walking?.next();
      let steps = 0;
      for (; step?.done === false; step = walking?.next()) steps += 1;
      return { fewest: step?.value?.[0] ?? NaN, steps };
    };
    const few = walk('wörld '.repeat(1000));
    const many = walk('wörld '.repeat(500_000));
    expect(few.steps).toBe(1);
    expect(many.steps).toBeGreaterThan(20);
    expect(Math.abs(many.fewest - 500 * few.fewest)).toBeLessThan(500);
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
