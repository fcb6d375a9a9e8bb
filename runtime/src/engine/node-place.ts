// A node's place as the native engine gets it. Nodes are of one engine where names and settings are equal; what follows from
// them must then be equal on all: the checkpoint, by a digest of its shape and tensors, and each figure.

import type { EngineOptions, NodePlace } from '@llmservice/native';
import { checkpointDigest } from './checkpoint-digest.js';
import type { EngineSettings } from './protocol.js';

/** Null: there is one node. */
export async function nodePlace(settings: EngineSettings, options: EngineOptions): Promise<NodePlace | null> {
  if (settings.nodes === null) return null;
  const { identity, ...place } = settings.nodes;
  const engine = { ...identity, ...settingsOf(settings) };
  return { ...place, plan: JSON.stringify({ engine, ...(await planOf(settings, options)) }) };
}

function settingsOf(settings: EngineSettings): Record<string, unknown> {
  // Folders, descriptors, memory and threads are each node's own; memory shows in what follows from it.
  const { accelerator, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, blockSize, prefixCaching, dtype } =
    settings;
  const { exactness, kvCacheDtype, quantization, collectives, selfCheck, adapterRoom } = settings;
  return {
    ...{ accelerator, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, blockSize, prefixCaching, dtype },
    ...{ exactness, kvCacheDtype, quantization, collectives, selfCheck, adapterRoom },
    speculative: { ...settings.speculative, headDir: undefined },
  };
}

async function planOf(
  { modelDir, speculative: { headDir } }: EngineSettings,
  { maxModelLen, numBlocks, numStateSnapshots }: EngineOptions,
): Promise<Record<string, unknown>> {
  return {
    maxModelLen,
    numBlocks,
    numStateSnapshots,
    checkpoint: await checkpointDigest(modelDir),
    ...(headDir === undefined ? {} : { draftCheckpoint: await checkpointDigest(headDir) }),
  };
}
