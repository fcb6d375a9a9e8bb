// Qwen2 as GGUF: what no key says, and biases that keep their order.

import { expect, test } from '@jest/globals';
import { readGgufCheckpoint } from './gguf-checkpoint.js';
import { parseGgufHeader } from './gguf-header.js';
import { ggufFile, llamaGguf } from './gguf.fixture.js';

test('a GGUF file of Qwen2 has biases of queries, keys and values, and heads as wide as their number says', () => {
  const llama = llamaGguf();
  const own = Object.entries(llama.keys).map(([key, value]) => [key.replace(/^llama\./, 'qwen2.'), value]);
  const biases = Object.entries({ q: 32, k: 16, v: 16 }).map(([name, rows]) => [
    `blk.0.attn_${name}.bias`,
    { type: 0, shape: [rows], bytes: 4 * rows },
  ]);
  const bytes = ggufFile({
    keys: { ...(Object.fromEntries(own) as typeof llama.keys), 'general.architecture': 'qwen2' },
    tensors: { ...llama.tensors, ...(Object.fromEntries(biases) as typeof llama.tensors) },
  });
  const { shape, tensors } = readGgufCheckpoint(
    parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: false })!,
  );
  expect(shape).toMatchObject({
    ...{ architecture: 'qwen2', headDim: 8, qkvBias: true, outputBias: false },
    windows: [0],
  });
  const at = 'model.layers.0.self_attn.q_proj';
  expect(tensors.filter(({ name }) => name.startsWith(at))).toMatchObject([
    { name: `${at}.weight`, restoration: null },
    { name: `${at}.bias`, restoration: null },
  ]);
});
