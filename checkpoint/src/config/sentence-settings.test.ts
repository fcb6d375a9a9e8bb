import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { noSettings, readSettings } from './sentence-settings.js';

const read = (config: unknown, length: unknown = null): ReturnType<typeof readSettings> =>
  readSettings(
    config === null ? null : JSON.stringify(config),
    length === null ? null : JSON.stringify(length),
  );

test('reads prompts, which of them is the usual one, and how long texts may be', () => {
  expect(read(null)).toEqual(noSettings);
  // As EmbeddingGemma has them, and newer releases that name no length.
  expect(read({ prompts: { query: 'q: ', document: '' }, default_prompt_name: null }, {})).toEqual({
    ...{
      prompts: new Map([
        ['query', 'q: '],
        ['document', ''],
      ]),
      defaultPrompt: null,
      maxTokens: null,
    },
  });
  expect(read({ prompts: { query: 'q: ' }, default_prompt_name: 'query' }, { max_seq_length: 512 })).toEqual({
    ...{ prompts: new Map([['query', 'q: ']]), defaultPrompt: 'query', maxTokens: 512 },
  });
});

test.each([
  [[], null, 'config_sentence_transformers.json is not a JSON object'],
  [{ prompts: ['q: '] }, null, 'has prompts ["q: "]; expected texts by name'],
  [{ prompts: { query: 1 } }, null, 'expected texts by name'],
  [
    { prompts: { query: 'q: ' }, default_prompt_name: 'passage' },
    null,
    'has default_prompt_name "passage"; expected one of its prompts: query',
  ],
  [null, { max_seq_length: '512' }, 'sentence_bert_config.json has max_seq_length "512"; expected a whole'],
])('refuses %j with %j', (config, length, problem) => {
  const failure = thrownBy(FailureError, () => read(config, length));
  expect(failure.reason).toBe('CheckpointCorrupt');
  expect(failure.message).toContain(problem);
});
