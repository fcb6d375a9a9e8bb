// Which of the formats that CPUs read a GPU reads: all but some block types of GGUF files (gguf-types.ts).

import { FailureError } from '@llmservice/crds';
import type { GgufTensorEntry } from '../formats/gguf-entries.js';
import { blockType, ggufTypeNames, isIntegerType } from '../formats/gguf-types.js';
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
  if (isIntegerType(dtype)) {
    throw new FailureError(
      'UnsupportedQuantization',
      `tensor ${storedName} is of packed integers, as GPTQ, AWQ and compressed-tensors have them, which the engine reads on CPUs ` +
        'only; on GPUs a checkpoint in FP8 or NVFP4 would do, or the unquantized one with engine.quantization int8, or ' +
        'accelerator.resourceName none',
      { tensor: storedName },
    );
  }
  throw new FailureError(
    'UnsupportedQuantization',
    `tensor ${storedName} has type ${dtype}, which the engine reads on CPUs only; on GPUs it reads of GGUF files ` +
      `${ggufTypeNames('on GPUs')}: a file made as Q8_0, Q4_K_M or F16 would do, or accelerator.resourceName none`,
    { tensor: storedName },
  );
}
