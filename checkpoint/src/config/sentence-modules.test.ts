import { describe, expect, test } from '@jest/globals';
import type { DenseModule } from './dense-module.js';
import { readSentenceModules } from './sentence-modules.js';
import { noSettings, type SentenceSettings } from './sentence-settings.js';

const module = (kind: string, path = ''): object => ({
  path,
  type: `sentence_transformers.models.${kind}`,
});
/** As gte-modernbert-base has them. */
const listed = [module('Transformer'), module('Pooling', '1_Pooling'), module('Normalize', '2_Normalize')];
const cls = { word_embedding_dimension: 768, pooling_mode_cls_token: true, pooling_mode_mean_tokens: false };

const dense = (inFeatures: number, outFeatures: number, more: object = {}): object => ({
  ...{ in_features: inFeatures, out_features: outFeatures, bias: false },
  ...{ activation_function: 'torch.nn.modules.linear.Identity', ...more },
});
/** As EmbeddingGemma has them. */
const projected = [
  ...[module('Transformer'), module('Pooling', '1_Pooling')],
  ...[module('Dense', '2_Dense'), module('Dense', '3_Dense'), module('Normalize', '4_Normalize')],
];

/** @param folders by the digit of their names */
async function modulesOf(
  modules: unknown,
  pooling: unknown,
  folders: Readonly<Record<number, object>> = {},
): Promise<{ pooling: string | null; dense: readonly DenseModule[]; settings: SentenceSettings }> {
  const files = new Map<string, unknown>([
    ['modules.json', modules],
    ['1_Pooling.config.json', pooling],
    ...Object.entries(folders).map(([digit, config]) => [`${digit}_Dense.config.json`, config] as const),
  ]);
  return readSentenceModules((name) => {
    const content = files.get(name) ?? null;
    return Promise.resolve(content === null ? null : JSON.stringify(content));
  }, 768);
}

test.each([
  ['nothing', null, null, null],
  ['modules that do not pool', [module('Transformer')], null, null],
  ["a reranker's modules", [module('Transformer'), module('LogitScore', '1_LogitScore')], null, null],
  ['the first token', listed, cls, 'cls'],
  ['no list of modules', null, cls, 'cls'],
  ['the mean', listed, { pooling_mode_mean_tokens: true, include_prompt: true }, 'mean'],
  ['the last token', listed, { pooling_mode_lasttoken: true }, 'last'],
  ['the newer name', listed, { embedding_dimension: 768, pooling_mode: 'lasttoken' }, 'last'],
])('reads %s', async (_, modules, pooling, expected) => {
  expect(await modulesOf(modules, pooling)).toEqual({ pooling: expected, dense: [], settings: noSettings });
});

test('reads what the pooled state goes through, in its order', async () => {
  const second = { in_features: 3072, out_features: 768 };
  const { dense: found } = await modulesOf(projected, cls, { 2: dense(768, 3072), 3: second });
  expect(found).toEqual([
    {
      ...{ path: '2_Dense/config.json', weightsFile: '2_Dense.model.safetensors' },
      ...{ inFeatures: 768, outFeatures: 3072, bias: false, activation: 'identity' },
    },
    {
      ...{ path: '3_Dense/config.json', weightsFile: '3_Dense.model.safetensors' },
      // What sentence-transformers takes where a field is not there.
      ...{ inFeatures: 3072, outFeatures: 768, bias: true, activation: 'tanh' },
    },
  ]);
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
    [[...listed, module('Dense', '3_Dense')], cls, 'UnsupportedArchitecture', 'Dense behind Normalize'],
    [
      [...listed.slice(0, 2), module('Dense', 'Dense')],
      cls,
      'UnsupportedArchitecture',
      'Dense in "Dense"; it is read in N_Dense',
    ],
    [projected, cls, 'CheckpointIncomplete', 'names 2_Dense, but there is no 2_Dense/config.json'],
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
      'models.SpladePooling, which is not supported: texts go through Transformer, Pooling, Dense and Normalize',
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
  ])('%j with %j', async (modules, pooling, reason, problem) => {
    await expect(modulesOf(modules, pooling)).rejects.toMatchObject({
      ...{ reason, message: expect.stringContaining(problem) },
    });
  });

  test.each([
    [[], 'CheckpointCorrupt', '2_Dense/config.json is not a JSON object'],
    [
      dense(512, 768),
      'CheckpointCorrupt',
      '2_Dense/config.json has in_features 512; expected 768, the hidden_size of config.json',
    ],
    [dense(768, 0), 'CheckpointCorrupt', 'has out_features 0; expected a whole number up to 65536'],
    [dense(768, 768, { bias: 'no' }), 'CheckpointCorrupt', 'has bias "no"; expected true or false'],
    [
      dense(768, 768, { activation_function: 'torch.nn.modules.activation.GELU' }),
      'UnsupportedArchitecture',
      'activation_function "torch.nn.modules.activation.GELU"; supported: torch.nn.modules.linear.Identity, torch.nn.',
    ],
    [dense(768, 768, { use_residual: true }), 'UnsupportedArchitecture', 'use_residual true'],
    [
      dense(768, 768, { module_input_name: 'token_embeddings' }),
      'UnsupportedArchitecture',
      'module_input_name "token_embeddings"; supported: sentence_embedding',
    ],
    [
      dense(768, 512),
      'CheckpointCorrupt',
      '3_Dense/config.json has in_features 768; expected 512, the out_features of 2_Dense/config.json',
    ],
  ])('a module Dense of %j', async (config, reason, problem) => {
    await expect(modulesOf(projected, cls, { 2: config, 3: dense(768, 768) })).rejects.toMatchObject({
      ...{ reason, message: expect.stringContaining(problem) },
    });
  });
});

test('a folder is listed once, and matrices are bounded together', async () => {
  const twice = [...projected.slice(0, 3), module('Dense', '2_Dense')];
  await expect(modulesOf(twice, cls, { 2: dense(768, 768) })).rejects.toMatchObject({
    reason: 'CheckpointCorrupt',
    message: 'modules.json lists "2_Dense" twice; expected a folder for each module',
  });
  // 4 · 768 · 65,536 and 4 · 65,536 · n bytes: n of 3,328 makes 1 GiB.
  const wide = (n: number): Promise<unknown> =>
    modulesOf(projected, cls, { 2: dense(768, 65_536), 3: dense(65_536, n) });
  await expect(wide(3328)).resolves.toMatchObject({ pooling: 'cls' });
  await expect(wide(3329)).rejects.toMatchObject({
    reason: 'UnsupportedArchitecture',
    message: expect.stringContaining('up to 3_Dense whose values take 1074003968 bytes'),
  });
});
