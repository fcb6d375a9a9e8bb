// A node's place as the native engine gets it, with the plan that all nodes of a group must have: the checkpoint by a digest
// of its shape and tensors, each setting and each figure that follows from them by its name.

import type { EngineOptions, NodePlace } from '@llmservice/native';
import { checkpointDigest } from './checkpoint-digest.js';
import type { EngineSettings } from './protocol.js';

/** Null: there is one node. */
export async function nodePlace(settings: EngineSettings, options: EngineOptions): Promise<NodePlace | null> {
  if (settings.nodes === null) return null;
  const { identity, ...place } = settings.nodes;
  return { ...place, plan: JSON.stringify({ ...identity, ...(await planOf(settings, options)) }) };
}

async function planOf(
  settings: EngineSettings,
  { maxModelLen, numBlocks, numStateSnapshots }: EngineOptions,
): Promise<Record<string, unknown>> {
  const { headDir, ...speculative } = settings.speculative;
  // Folders, descriptors, memory and threads are each node's own; memory shows in what follows from it.
  const { accelerator, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, blockSize, prefixCaching, dtype } =
    settings;
  const { exactness, kvCacheDtype, quantization, collectives, selfCheck, adapterRoom } = settings;
  return {
    ...{ accelerator, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, blockSize, prefixCaching, dtype },
    ...{ exactness, kvCacheDtype, quantization, collectives, selfCheck, adapterRoom },
    speculative,
    maxModelLen,
    numBlocks,
    numStateSnapshots,
    checkpoint: await checkpointDigest(settings.modelDir),
    ...(headDir === undefined ? {} : { draftCheckpoint: await checkpointDigest(headDir) }),
  };
}
