// What makes the KV of two engines alike that the native engine does not see itself: the checkpoint's shape and tensors, and the
// settings that change what is computed. The native engine adds its own: samples of the weights, instruction family, ranks, sizes.

import type { TransferOptions } from '@llmservice/native';
import { createHash } from 'node:crypto';
import { checkpointDigest } from './checkpoint-digest.js';
import type { EngineSettings } from './protocol.js';

/** Null: prefill and decode are not apart. */
export async function transferOptions(settings: EngineSettings): Promise<TransferOptions | null> {
  const { disaggregation, modelDir, dtype, kvCacheDtype, quantization, exactness, accelerator } = settings;
  if (disaggregation === null) return null;
  const { headDir, ...speculative } = settings.speculative;
  const alike = {
    ...{ dtype, kvCacheDtype, quantization, exactness, accelerator, speculative },
    checkpoint: await checkpointDigest(modelDir),
    head: headDir === undefined ? null : await checkpointDigest(headDir),
  };
  const identity = createHash('sha256').update(JSON.stringify(alike)).digest('hex').slice(0, 16);
  return { port: disaggregation.role === 'prefill' ? disaggregation.transferPort : null, identity };
}
