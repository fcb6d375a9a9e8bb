// From settings and the checkpoint's own headers to the options that the native engine is loaded with:
// the same memory plan that the operator makes, here with the memory that this process really has.

import {
  checkMtpHead,
  draftsOf,
  planMemory,
  weighCheckpoint,
  type DraftModel,
  type Eagle3Head,
  type ModelShape,
  type MtpHead,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { gpuDevices, type EngineOptions } from '@llmservice/native';
import {
  openCheckpoint,
  openDraftModel,
  openEagle3,
  readLocalModules,
  readLocalMtpHead,
} from '@llmservice/checkpoint/local';
import { kvShare } from './kv-share.js';
import { usableMemoryBytes } from './memory-limit.js';
import { readIfThere } from './read-if-there.js';
import type { EngineSettings } from './protocol.js';
import { transferOptions } from './transfer-options.js';

/**
 * Options for `loadEngine`; those of several ranks differ in their place only, which is not known here.
 * @throws FailureError of the checkpoint parsers, of `planMemory` (ModelTooLarge, KvCacheTooSmall with detail.fits), and
 *   DeviceUnavailable
 */
export async function planEngine(settings: EngineSettings): Promise<EngineOptions> {
  const { modelDir, accelerator, tensor, dtype, kvCacheDtype, quantization, speculative } = settings;
  const { dir, shape, tensors } = await openCheckpoint(modelDir);
  const { dense } = await readLocalModules(dir, shape.hidden);
  const { headDir } = speculative;
  const head = headDir === undefined ? null : await readHead(headDir, speculative, shape);
  const nodes = settings.nodes?.count ?? 1;
  const plan = planMemory({
    ...settings,
    nodes,
    shape,
    weights: weighCheckpoint({ shape, tensors, dense }, head, {
      ...{ accelerator, dtype, quantization, speculative },
    }),
    memoryBytes: settings.memoryBytesPerDevice ?? memoryBytesOf(accelerator),
  });
  const threads =
    settings.threads === null
      ? null
      : Math.max(1, Math.floor((settings.threads * nodes) / (tensor * settings.pipeline)));
  return {
    modelDir,
    blockSize: settings.blockSize,
    ...kvShare(settings, plan),
    maxNumSeqs: settings.maxNumSeqs,
    numStateSnapshots: plan.numStateSnapshots,
    maxModelLen: plan.maxModelLen,
    maxNumBatchedTokens: settings.maxNumBatchedTokens,
    dtype,
    kvCacheDtype,
    quantization,
    speculative: { ...speculative, tokens: draftsOf(speculative) },
    threads,
    device: accelerator,
    collectives: settings.collectives,
    selfCheck: settings.selfCheck,
    maxAdapterRank: settings.adapterRoom.max === 0 ? 0 : settings.adapterRoom.maxRank,
    isa: settings.exactness,
    logitHashes: false,
    transfer: await transferOptions(settings),
    place: null,
  };
}

/** @throws FailureError InvalidEngineConfig where it drafts for no model of that shape, and of the checkpoint parsers */
async function readHead(
  dir: string,
  { method }: EngineSettings['speculative'],
  trunk: ModelShape,
): Promise<MtpHead | Eagle3Head | DraftModel> {
  if (method === 'eagle3') return openEagle3(dir, trunk);
  if (method === 'draft_model') return openDraftModel(dir, trunk);
  const head = await readLocalMtpHead(dir);
  checkMtpHead(dir, head, trunk);
  return head;
}

/** Of a GPU, the first one's: ranks get devices of one kind. @throws FailureError DeviceUnavailable */
function memoryBytesOf(accelerator: EngineSettings['accelerator']): number {
  if (accelerator === 'cpu') return usableMemoryBytes(readIfThere);
  const { devices, problem } = gpuDevices(accelerator);
  const [first] = devices;
  if (first !== undefined) return first.memoryBytes;
  throw new FailureError(
    'DeviceUnavailable',
    `No ${accelerator} device can be used: ${problem ?? 'there is none'}.`,
  );
}
