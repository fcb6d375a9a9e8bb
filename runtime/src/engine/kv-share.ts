// How many KV blocks an engine is asked to take: on the CPU those of the plan; on a GPU as many as can be of use and fit
// what it measures there, of which the plan's are a promise. Pure.

import { deviceReserve, type MemoryPlan } from '@llmservice/checkpoint';
import type { EngineOptions } from '@llmservice/native';
import type { EngineSettings } from './protocol.js';

type ShareSettings = Pick<
  EngineSettings,
  'accelerator' | 'blockSize' | 'maxNumSeqs' | 'memoryUtilizationPercent'
>;

export function kvShare(
  { accelerator, blockSize, maxNumSeqs, memoryUtilizationPercent }: ShareSettings,
  { numBlocks, maxModelLen, adapterBytes }: Pick<MemoryPlan, 'numBlocks' | 'maxModelLen' | 'adapterBytes'>,
): Pick<EngineOptions, 'numBlocks' | 'memory'> {
  if (accelerator === 'cpu') return { numBlocks, memory: null };
  return {
    numBlocks: Math.ceil(maxModelLen / blockSize) * maxNumSeqs,
    memory: {
      utilizationPercent: memoryUtilizationPercent,
      contextBytes: deviceReserve.contextBytes,
      // Adapters come later too.
      graphBytes: deviceReserve.graphBytes + adapterBytes,
      plannedBlocks: numBlocks,
    },
  };
}
