import { expect, test } from '@jest/globals';
import { tokenizerJson } from '../../tokens/tokenizer.fixture.js';
import { Tokenizer } from '../../tokens/tokenizer.js';
import { readRules, tokenRules, violationsOfRules } from './token-rules.js';

const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
const rulesOf = (fields: object, vocabSize = 300): ReturnType<typeof tokenRules> =>
  tokenRules(readRules(fields), null, { tokenizer, vocabSize });
const none = {
  biased: [],
  biases: [],
  allowed: [],
  banned: [],
  bannedEnds: [],
  minTokens: 0,
  reported: [],
  reasoning: null,
};

test.each([
  ['biases by id', { logit_bias: { '5': 1.5, '299': -100 } }, { biased: [5, 299], biases: [1.5, -100] }],
  ['allowed ids, once and ascending', { allowed_token_ids: [9, 3, 9] }, { allowed: [3, 9] }],
  ['tokens that must be', { min_tokens: 4 }, { minTokens: 4 }],
  ['ids to report, once and in their order', { logprob_token_ids: [9, 3, 9] }, { reported: [9, 3] }],
])('gives the engine %s', async (_, fields, expected) => {
  const rules = await rulesOf(fields);
  const plain = Object.fromEntries(
    Object.entries(rules!).map(([key, value]) => [
      key,
      typeof value === 'number' || value === null ? value : [...(value as Iterable<number>)],
    ]),
  );
  expect(plain).toEqual({ ...none, ...expected });
});

test('bans a word as it stands at the beginning and after a space', async () => {
  const { banned, bannedEnds } = (await rulesOf({ bad_words: ['ab', ' ab', 'é'] }))!;
  const sequences = [...bannedEnds].map((end, i) => [...banned.slice(bannedEnds[i - 1] ?? 0, end)]);
  const encoded = await Promise.all(
    ['ab', ' ab', 'é', ' é'].map((text) => tokenizer.encode(text, { addSpecialTokens: false })),
  );
  expect(sequences).toEqual(encoded.map((ids) => [...ids]));
});

test.each([{}, { logit_bias: {} }, { min_tokens: 0 }, { bad_words: [] }])('%j says nothing', (fields) => {
  expect(readRules(fields)).toBeNull();
});

test.each([
  [{ logit_bias: { '300': 1 } }, 'logit_bias has the token id 300'],
  [{ logit_bias: { '300': 1, '5': 1, '301': 2 } }, /token id 300.*; logit_bias has the token id 301/],
  [{ allowed_token_ids: [1, 300] }, 'allowed_token_ids has the token id 300'],
])('refuses %j', async (fields, message) => {
  await expect(async () => rulesOf(fields)).rejects.toThrow(message);
});

test('refuses a word with a token that the tokenizer has and the model has not', async () => {
  const rules = (): unknown => rulesOf({ bad_words: ['é'] }, 100);
  await expect(rules).rejects.toThrow('bad_words has the token id');
});

test.each([
  [{ min_tokens: 5 }, 4, false, ['min_tokens must be at most max_tokens, which is 4']],
  [
    { min_tokens: 5, max_completion_tokens: 4 },
    4,
    false,
    ['min_tokens must be at most max_completion_tokens, which is 4'],
  ],
  [{ min_tokens: 5 }, null, false, []],
  [{ min_tokens: 4, logit_bias: { '1': 1 } }, 4, false, []],
  [{ min_tokens: 1 }, 4, true, [expect.stringContaining('min_tokens and structured output')]],
  [
    { bad_words: ['a'], allowed_token_ids: [1] },
    4,
    true,
    [expect.stringContaining('allowed_token_ids'), expect.stringContaining('bad_words')],
  ],
  [{ min_tokens: 0, bad_words: [], logit_bias: { '1': 1 } }, 4, true, []],
])(
  'of %j with %j tokens these rules are broken (structured output: %j)',
  (fields, maxTokens, hasFormat, expected) => {
    expect(violationsOfRules(fields, maxTokens, hasFormat).map(({ message }) => message)).toEqual(expected);
  },
);
