// Which of the formats that CPUs read a GPU reads: all but some block types of GGUF files (gguf-types.ts).

import { FailureError } from '@llmservice/crds';
import type { GgufTensorEntry } from '../formats/gguf-checkpoint.js';
import { blockType, ggufTypeNames } from '../formats/gguf-types.js';
import type { TensorEntry } from '../formats/safetensors-header.js';

/** What runs the model. */
export type Device = 'cpu' | 'cuda' | 'hip';

type Stored = TensorEntry & Partial<Pick<GgufTensorEntry, 'storedName'>>;

/** @throws FailureError UnsupportedQuantization */
export function checkDeviceFormats(device: Device, tensors: readonly Stored[]): void {
  if (device === 'cpu') return;
  const foreign = tensors.find(({ dtype }) => blockType(dtype)?.onGpu === false);
  if (foreign === undefined) return;
  const { name, storedName = name, dtype } = foreign;
  throw new FailureError(
    'UnsupportedQuantization',
    `tensor ${storedName} has type ${dtype}, which the engine reads on CPUs only; on GPUs it reads of GGUF files ` +
      `${ggufTypeNames('on GPUs')}: a file made as Q8_0, Q4_K_M or F16 would do, or accelerator.resourceName none`,
    { tensor: storedName },
  );
}
