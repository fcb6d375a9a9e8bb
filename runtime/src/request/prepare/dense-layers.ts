// What a pooled hidden state goes through behind the engine. Pure; sums run in one order, in float64, so that a vector's bits
// depend on nothing beside it.

import type { DenseLayer } from '@llmservice/checkpoint/local';

export function through(layers: readonly DenseLayer[], vector: Float32Array): Float32Array {
  return layers.reduce(apply, vector);
}

function apply(x: Float32Array, { weights, bias, inFeatures, activation }: DenseLayer): Float32Array {
  const out = new Float32Array(weights.length / inFeatures);
  for (let row = 0, at = 0; row < out.length; row += 1) {
    let sum = bias?.[row] ?? 0;
    for (let i = 0; i < inFeatures; i += 1, at += 1) sum += (weights[at] ?? NaN) * (x[i] ?? NaN);
    out[row] = activation === 'tanh' ? Math.tanh(sum) : sum;
  }
  return out;
}

/** Of what comes out; of no layers what goes in. */
export function widthBehind(layers: readonly DenseLayer[], hidden: number): number {
  return layers.reduce((_, { weights, inFeatures }) => weights.length / inFeatures, hidden);
}
