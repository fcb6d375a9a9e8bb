import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { readPooling } from './sentence-pooling.js';

const module = (kind: string, path = ''): object => ({
  path,
  type: `sentence_transformers.models.${kind}`,
});
/** As gte-modernbert-base has them. */
const listed = [module('Transformer'), module('Pooling', '1_Pooling'), module('Normalize', '2_Normalize')];
const cls = { word_embedding_dimension: 768, pooling_mode_cls_token: true, pooling_mode_mean_tokens: false };

const read = (modules: unknown, pooling: unknown): string | null =>
  readPooling(
    {
      modules: modules === null ? null : JSON.stringify(modules),
      pooling: pooling === null ? null : JSON.stringify(pooling),
    },
    768,
  );

test.each([
  ['nothing', null, null, null],
  ['modules that do not pool', [module('Transformer')], null, null],
  ["a reranker's modules", [module('Transformer'), module('LogitScore', '1_LogitScore')], null, null],
  ['the first token', listed, cls, 'cls'],
  ['no list of modules', null, cls, 'cls'],
  ['the mean', listed, { pooling_mode_mean_tokens: true, include_prompt: true }, 'mean'],
  ['the last token', listed, { pooling_mode_lasttoken: true }, 'last'],
  ['the newer name', listed, { embedding_dimension: 768, pooling_mode: 'lasttoken' }, 'last'],
])('reads %s', (_, modules, pooling, expected) => {
  expect(read(modules, pooling)).toBe(expected);
});

describe('refuses', () => {
  const both = { ...cls, pooling_mode_mean_tokens: true };
  test.each([
    [listed, null, 'CheckpointIncomplete', 'names 1_Pooling, but there is no 1_Pooling/config.json'],
    [{}, cls, 'CheckpointCorrupt', 'modules.json is not a list of modules'],
    [[{ path: '' }], cls, 'CheckpointCorrupt', 'a module without type and path'],
    [
      [module('Pooling', '2_Pooling')],
      cls,
      'UnsupportedArchitecture',
      'in "2_Pooling"; it is read in 1_Pooling',
    ],
    [[...listed, module('Dense', '3_Dense')], cls, 'UnsupportedArchitecture', 'models.Dense, which is not'],
    [
      [module('Transformer'), { path: '1_Dense', type: 'pylate.models.Dense.Dense' }],
      null,
      'UnsupportedArchitecture',
      'lists pylate.models.Dense.Dense, which is not supported',
    ],
    [
      [module('MLMTransformer'), { path: '1_SpladePooling', type: 'x.SpladePooling' }],
      null,
      'UnsupportedArchitecture',
      'lists sentence_transformers.models.MLMTransformer, which is not',
    ],
    [
      [module('Transformer'), module('SpladePooling', '1_SpladePooling')],
      null,
      'UnsupportedArchitecture',
      'models.SpladePooling, which is not supported: texts go through Transformer, Pooling and Normalize',
    ],
    [listed, [], 'CheckpointCorrupt', '1_Pooling/config.json is not a JSON object'],
    [listed, {}, 'CheckpointCorrupt', 'chooses none; expected one of cls, mean and lasttoken'],
    [listed, both, 'CheckpointCorrupt', 'pooling_mode_cls_token and pooling_mode_mean_tokens; expected one'],
    [listed, { ...cls, pooling_mode: 'mean' }, 'CheckpointCorrupt', 'expected one of'],
    [
      listed,
      { ...cls, word_embedding_dimension: 384 },
      'CheckpointCorrupt',
      '384, but config.json has hidden_size 768',
    ],
    [listed, { ...cls, include_prompt: false }, 'UnsupportedArchitecture', 'include_prompt false'],
    [listed, { pooling_mode_max_tokens: true }, 'UnsupportedArchitecture', 'pooling_mode_max_tokens, which'],
    [listed, { pooling_mode: 'splade' }, 'UnsupportedArchitecture', 'pooling_mode "splade"'],
  ])('%j with %j', (modules, pooling, reason, problem) => {
    const failure = thrownBy(FailureError, () => read(modules, pooling));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(problem);
  });
});
