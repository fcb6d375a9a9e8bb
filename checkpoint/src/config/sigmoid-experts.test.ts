import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { glm4MoeConfig } from './config.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

describe('a config of GLM', () => {
  test('has a dense layer, then experts scored by sigmoids beside a shared one, and half of a head that rotates', () => {
    const shape = parseCheckpointConfig(glm4MoeConfig);
    expect(shape).toMatchObject({
      ...{ architecture: 'glm4_moe', hidden: 4096, heads: 96, kvHeads: 8, headDim: 128, ffn: 10944 },
      ...{
        qkNorm: false,
        qkvBias: true,
        outputBias: false,
        rotaryDim: 64,
        theta: 1000000,
        normEpsilon: 1e-5,
      },
      moe: {
        ...{ experts: 128, topK: 8, ffn: 1408, sharedFfn: 1408, sharedGate: false, normalized: true },
        sigmoid: { groups: 1, chosenGroups: 1, scale: 1 },
      },
    });
    expect(shape.feedForward).toEqual(['dense', ...Array<string>(45).fill('moe')]);
  });

  test('has what it leaves out as transformers has it', () => {
    const whole = parseCheckpointConfig(glm4MoeConfig);
    const left = new Set([
      ...['first_k_dense_replace', 'n_group', 'n_shared_experts', 'norm_topk_prob', 'partial_rotary_factor'],
      ...['rms_norm_eps', 'routed_scaling_factor', 'topk_group', 'use_qk_norm'],
    ]);
    const terse = Object.entries(glm4MoeConfig).filter(([field]) => !left.has(field));
    expect(parseCheckpointConfig(Object.fromEntries(terse))).toEqual(whole);
  });

  test('as the large models have it: normalized queries and keys, three dense layers, scaled weights, groups', () => {
    const large = {
      ...{ first_k_dense_replace: 3, n_routed_experts: 160, routed_scaling_factor: 2.5, use_qk_norm: true },
      ...{ n_shared_experts: 2, n_group: 8, topk_group: 4, norm_topk_prob: false },
    };
    const shape = parseCheckpointConfig({ ...glm4MoeConfig, ...large });
    expect(shape).toMatchObject({
      qkNorm: true,
      moe: {
        ...{ experts: 160, sharedFfn: 2816, normalized: false },
        sigmoid: { groups: 8, chosenGroups: 4, scale: 2.5 },
      },
    });
    expect(shape.feedForward.slice(0, 4)).toEqual(['dense', 'dense', 'dense', 'moe']);
  });

  test.each([
    [
      'groups that do not divide the experts',
      { n_group: 3 },
      'n_group 3 does not divide n_routed_experts 128',
    ],
    ['groups of one', { n_group: 128 }, 'n_group 128 does not divide n_routed_experts 128'],
    ['more chosen groups than there are', { topk_group: 2 }, 'topk_group must not be more than n_group'],
    ['too few experts in the chosen groups', { n_group: 32 }, 'the experts of topk_group groups, 4'],
    [
      'more dense layers than layers',
      { first_k_dense_replace: 47 },
      'first_k_dense_replace must be one of 0 to',
    ],
    ['half a dense layer', { first_k_dense_replace: 0.5 }, 'first_k_dense_replace must be one of 0 to'],
    ['no shared expert', { n_shared_experts: 0 }, 'n_shared_experts must be a positive integer, found 0'],
    [
      'a scale of nothing',
      { routed_scaling_factor: 0 },
      'routed_scaling_factor must be a positive number, found 0',
    ],
    ['other scores', { scoring_func: 'softmax' }, 'scoring_func "softmax" is not supported, only "sigmoid"'],
    ['another choice', { topk_method: 'greedy' }, 'topk_method "greedy" is not supported, only "noaux_tc"'],
    ['experts in some layers', { moe_layer_freq: 2 }, 'moe_layer_freq 2 is not supported, only 1'],
    ['another activation', { hidden_act: 'gelu' }, 'hidden_act "gelu" is not supported, only silu'],
    [
      'an odd share of a head',
      { partial_rotary_factor: 0.4 },
      'partial_rotary_factor gives 51 rotary features',
    ],
    ['a flag in words', { use_qk_norm: 'yes' }, 'use_qk_norm must be true or false, found "yes"'],
    ['no experts', { n_routed_experts: null }, 'n_routed_experts is missing'],
  ])('is refused with %s', (_what, fields, problem) => {
    const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...glm4MoeConfig, ...fields }));
    expect(failure.message).toContain(problem);
  });
});
