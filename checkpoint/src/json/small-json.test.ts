import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig } from '../config/read-config.js';
import { FailureError } from '@llmservice/crds';
import { checkSmallFile, parseSmallJson } from './small-json.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

describe('a small file', () => {
  test('is parsed, brackets and escapes in its texts included', () => {
    const value = { a: ['[[[', '\\"{', { b: 1 }], c: null };
    expect(parseSmallJson('config.json', JSON.stringify(value))).toEqual(value);
  });

  test.each([
    ['nesting', `{"a":${'['.repeat(100_000)}`, 'is nested deeper than 64 levels'],
    ['values', `[${'[],'.repeat(300_000)}[]]`, 'has more than 200000 values'],
    ['no JSON', '{"a"', 'is not JSON'],
  ])('of hostile %s is refused by name', (_, text, part) => {
    const { reason, message } = thrownBy(FailureError, () => parseCheckpointConfig(text));
    expect(reason).toBe('CheckpointCorrupt');
    expect(message).toMatch(/^config\.json is not /);
    expect(message).toContain(part);
  });

  test('is refused by its size alone', () => {
    checkSmallFile('tokenizer.json', 33 * 2 ** 20);
    expect(thrownBy(FailureError, () => checkSmallFile('config.json', 2 ** 23)).message).toContain('4194304');
    expect(thrownBy(FailureError, () => checkSmallFile('tokenizer_config.json', 2 ** 30)).reason).toBe(
      'CheckpointCorrupt',
    );
  });
});
