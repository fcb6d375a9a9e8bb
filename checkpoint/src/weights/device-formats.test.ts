import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { ggufTypes } from '../formats/gguf-types.js';
import { checkDeviceFormats } from './device-formats.js';

const stored = (dtype: string) => ({
  ...{ name: 'model.layers.0.mlp.down_proj.weight', storedName: 'blk.0.ffn_down.weight' },
  ...{ dtype, shape: [256, 256], bytes: 0 },
});
const others = [stored('F32'), stored('BF16'), stored('F8_E4M3'), stored('U8'), stored('Q4_K')];

test.each(['cuda', 'hip'] as const)('%s: a type that only CPUs read is refused by its tensor', (device) => {
  const { reason, message } = thrownBy(FailureError, () =>
    checkDeviceFormats(device, [...others, stored('Q4_1')]),
  );
  expect(reason).toBe('UnsupportedQuantization');
  expect(message).toContain(
    'tensor blk.0.ffn_down.weight has type Q4_1, which the engine reads on CPUs only',
  );
  expect(message).toContain('F32, F16, BF16, Q8_0, Q4_0, Q4_K, Q6_K, MXFP4, NVFP4:');
  expect(() => checkDeviceFormats(device, others)).not.toThrow();
});

test('CPUs read all', () => {
  const all = Array.from(ggufTypes.values(), ({ name }) => stored(name));
  expect(() => checkDeviceFormats('cpu', [...others, ...all])).not.toThrow();
});
