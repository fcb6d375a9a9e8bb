import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig } from '../config/read-config.js';
import { qwen3MoeConfig, qwen36Config } from '../config/config.fixture.js';
import { checkSpeculative, draftBytesPerSequence, draftsOf, fewestBatchedTokens } from './speculation.js';

const tensors = [{ name: 'model.norm.weight' }, { name: 'mtp.fc.weight' }];

describe('speculative decoding', () => {
  test('without a method there are no drafts, whatever their number', () => {
    expect(draftsOf({ method: 'none', tokens: 3 })).toBe(0);
    expect(fewestBatchedTokens(256, { method: 'none', tokens: 3 })).toBe(320);
    expect(fewestBatchedTokens(256, { method: 'ngram', tokens: 3 })).toBe(1088);
  });

  test('mtp needs the layer in the checkpoint; the refusal says what would do', () => {
    checkSpeculative(tensors, false, { method: 'mtp', tokens: 1 });
    checkSpeculative([], false, { method: 'ngram', tokens: 1 });
    expect(() => checkSpeculative(tensors.slice(0, 1), false, { method: 'mtp', tokens: 1 })).toThrow(
      /no tensor mtp\.fc\.weight.*ngram or none/,
    );
    const other = [{ name: 'model.layers.46.eh_proj.weight' }];
    expect(() => checkSpeculative(other, false, { method: 'mtp', tokens: 1 })).toThrow(
      /of a form that is not read \(model\.layers\.46\.eh_proj\.weight\).*ngram or none/,
    );
  });

  test('a draft costs a recurrent layer its inputs, not a state: 41 kB against 3.3 MB on the 27B', () => {
    const shape = parseCheckpointConfig(qwen36Config);
    const one = draftBytesPerSequence(shape, 1, { method: 'mtp', tokens: 1 });
    expect(one).toBe(48 * (2 * 16 * 128 + 48 * 128 + 2 * 48) * 4);
    expect(draftBytesPerSequence(shape, 2, { method: 'mtp', tokens: 3 })).toBe((3 * one) / 2);
    expect(
      draftBytesPerSequence(parseCheckpointConfig(qwen3MoeConfig), 1, { method: 'ngram', tokens: 3 }),
    ).toBe(0);
  });
});
