import { describe, expect, it } from '@jest/globals';
import { parseJson, parseJsonObject } from './parse-json.js';

const problem = (text: string): string => {
  try {
    parseJson('the file', text);
  } catch (error) {
    expect((error as Error).cause).toBeUndefined();
    return (error as Error).message;
  }
  return 'none';
};

describe('parseJson', () => {
  it('gives what JSON says', () => expect(parseJson('x', '{"a":[1]}')).toEqual({ a: [1] }));

  it.each([
    ['{"a":1,}', 'the file is not JSON: see line 1, column 8'],
    ['{"a":\n"b" "c"}', 'the file is not JSON: see line 2, column 5'],
    ['{"a":', 'the file is not JSON: it ends too early'],
    ['', 'the file is not JSON: it ends too early'],
  ])('says where %j breaks', (text, message) => expect(problem(text)).toBe(message));

  it.each([
    'aws_secret_access_key = hunter2',
    'hunter2',
    '{"key": hunter2}',
    '["hunter2" "hunter2"]',
    '{"hunter2": "hunter2",}',
    `hunter2 ${'x'.repeat(1_000)}`,
    'hunter2 at position 5 (line 1 column 6)',
    '"hunter2\n"',
    '{hunter2}',
  ])('repeats nothing of %j', (text) => {
    expect(problem(text)).toMatch(
      /^the file is not JSON(: (see line \d+, column \d+|see position \d+|it ends too early))?$/,
    );
  });

  it.each(['[1]', '"hunter2"', 'null', '7'])('gives no object of %s', (text) => {
    expect(() => parseJsonObject('the file', text)).toThrow(/^the file is not a JSON object$/);
  });
});
