// What the engine has for CPUs alone: a model that takes it is refused on GPUs before any memory is.

import { FailureError } from '@llmservice/crds';
import { headsOf } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';

/** What runs the model. */
export type Device = 'cpu' | 'cuda' | 'hip';

/** Operations without a GPU kernel, and which models take them. runnable() in native/src/model/model.cpp has the same. */
const onCpusAlone: readonly (readonly [operation: string, isTaken: (shape: ModelShape) => boolean])[] = [
  [
    'heads that are no multiple of 16 features',
    (shape) => headsOf(shape).some(({ headDim }) => headDim % 16 !== 0),
  ],
  ['heads of more than 512 features', (shape) => headsOf(shape).some(({ headDim }) => headDim > 512)],
  [
    'more than 512 experts, or 16 of a token',
    ({ moe }) => moe !== null && (moe.experts > 512 || moe.topK > 16),
  ],
];

/** @throws FailureError UnsupportedArchitecture */
export function checkAccelerator(shape: ModelShape, accelerator: Device): void {
  if (accelerator === 'cpu') return;
  const missing = onCpusAlone.filter(([, isTaken]) => isTaken(shape)).map(([operation]) => operation);
  if (missing.length === 0) return;
  throw new FailureError(
    'UnsupportedArchitecture',
    `${shape.architecture} runs on CPUs alone (accelerator.resourceName none): there are no GPU kernels for ${missing.join(', ')}`,
  );
}
