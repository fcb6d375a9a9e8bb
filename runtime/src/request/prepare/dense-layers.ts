// What a pooled hidden state goes through behind the engine. Pure; sums run in one order, in float64, so that a vector's bits
// depend on nothing beside it. On the event loop, and so in steps.

import type { DenseLayer } from '@llmservice/checkpoint/local';
import { FailureError } from '@llmservice/crds';
import type { Steps } from '../../loop-turns.js';

/** Products between two yields: about a millisecond. */
const stepProducts = 2 ** 20;

/** @throws FailureError EngineNumericalFault: a value of what comes out is not finite */
export function* through(layers: readonly DenseLayer[], vector: Float32Array): Steps<Float32Array> {
  let x = vector;
  for (const layer of layers) x = yield* apply(x, layer);
  if (x.every(Number.isFinite)) return x;
  const part = layers.length === 0 ? 'pooling' : 'matrices behind the pooling';
  const problem = `a value that is not finite (NaN or infinity) came out of the ${part}`;
  throw new FailureError('EngineNumericalFault', problem, { kind: 'notFinite', part });
}

function* apply(x: Float32Array, { weights, bias, inFeatures, activation }: DenseLayer): Steps<Float32Array> {
  const out = new Float32Array(weights.length / inFeatures);
  const stepRows = Math.ceil(stepProducts / inFeatures);
  for (let row = 0, at = 0; row < out.length; row += 1) {
    let sum = bias?.[row] ?? 0;
    for (let i = 0; i < inFeatures; i += 1, at += 1) sum += (weights[at] ?? NaN) * (x[i] ?? NaN);
    out[row] = activation === 'tanh' ? Math.tanh(sum) : sum;
    if ((row + 1) % stepRows === 0) yield;
  }
  return out;
}

/** Of what comes out; of no layers what goes in. */
export function widthBehind(layers: readonly DenseLayer[], hidden: number): number {
  return layers.reduce((_, { weights, inFeatures }) => weights.length / inFeatures, hidden);
}
