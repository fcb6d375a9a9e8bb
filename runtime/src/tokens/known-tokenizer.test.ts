import { expect, test } from '@jest/globals';
import { isKnownTokenizer } from './known-tokenizer.js';
import { preTokenizerPatterns } from './pre-tokenizer-patterns.js';
import { tokenizerJson } from './tokenizer.fixture.js';

const file = JSON.parse(tokenizerJson()) as Record<string, unknown>;
const split = (pattern: string): object => ({
  type: 'Split',
  pattern: { Regex: pattern },
  behavior: 'Isolated',
});
const sequence = (...pretokenizers: object[]): object => ({ type: 'Sequence', pretokenizers });

test.each([
  ...Object.entries(preTokenizerPatterns).map(([name, patterns]): [string, object] => [
    name,
    { pre_tokenizer: sequence(...patterns.map(split), { type: 'ByteLevel', use_regex: false }) },
  ]),
  ['SmolLM', { pre_tokenizer: sequence({ type: 'Digits', individual_digits: true }, { type: 'ByteLevel' }) }],
  ['GPT-2', { pre_tokenizer: { type: 'ByteLevel', use_regex: true } }],
  [
    'Gemma',
    {
      normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
      pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious' },
    },
  ],
  [
    'line ends that stand for themselves',
    { pre_tokenizer: split(preTokenizerPatterns.qwen2[0].replaceAll('\\r\\n', '\r\n')) },
  ],
])('knows %s', (_, change) => {
  expect(isKnownTokenizer({ ...file, ...change })).toBe(true);
});

test.each<[string, object]>([
  ['another pattern', { pre_tokenizer: split('(a+)+$') }],
  [
    'another pattern among known ones',
    { pre_tokenizer: sequence(split(preTokenizerPatterns.qwen2[0]), split('.*a')) },
  ],
  ['a pattern that replaces', { normalizer: { type: 'Replace', pattern: { Regex: '(a+)+$' }, content: '' } }],
  [
    'a long replacement',
    { normalizer: { type: 'Replace', pattern: { String: 'a' }, content: 'b'.repeat(1000) } },
  ],
  ['a step that it does not know', { pre_tokenizer: { type: 'BertPreTokenizer' } }],
  ['another model', { model: { type: 'Unigram', vocab: [] } }],
  ['chance', { model: { ...(file['model'] as object), dropout: 0.5 } }],
  ['tokens that take white space along', { added_tokens: [{ id: 0, content: 'a', lstrip: true }] }],
])('does not know %s', (_, change) => {
  expect(isKnownTokenizer({ ...file, ...change })).toBe(false);
});

test.each([null, 1, [], {}, { model: null }, { model: { merges: {} } }])('does not know %j', (other) => {
  expect(isKnownTokenizer(other)).toBe(false);
});
