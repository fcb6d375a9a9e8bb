// A checkpoint on this machine, by its headers alone: the model's shape, and where each of its tensors lies.

import { existsSync } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FailureError } from '@llmservice/crds';
import type { ModelShape } from '../../config/model-shape.js';
import { parseCheckpointConfig, parseConfigObject } from '../../config/read-config.js';
import { readGgufCheckpoint } from '../../formats/gguf-checkpoint.js';
import type { GgufRestoration } from '../../formats/gguf-entries.js';
import type { BlockPart } from '../../formats/gguf-nvfp4.js';
import { headerLengthBytes, type PlacedTensor } from '../../formats/safetensors-header.js';
import {
  checkIndexed,
  missingFiles,
  safetensorsIndexFile,
  safetensorsSingleFile,
} from '../../formats/safetensors-index.js';
import { maxIndexBytes, parseHeaderLength } from '../../formats/safetensors.js';
import { checkSmallFile } from '../../json/small-json.js';
import { checkDraftModel, inDraftModel } from '../../weights/draft-model.js';
import { asStored } from '../../weights/engine-names.js';
import { readEagle3Head, type Eagle3Head } from '../../weights/eagle3-head.js';
import { inEngineForm, type EngineTensor, type FusedForm } from '../../weights/fused-experts.js';
import { checkLeftAlone } from '../../weights/left-alone.js';
import { joinPacked, type Packed } from '../../weights/packed-tensors.js';
import { isOfMtp, type MtpHead } from '../../weights/mtp-head.js';
import type { ScaledForm } from '../../weights/scaled-forms.js';
import { findGguf, readLocalGguf } from './local-gguf.js';
import { parseHeaderInSteps, parseIndexInSteps } from './parse-in-steps.js';

/** A tensor of a checkpoint, and where its bytes are. */
export interface StoredTensor extends PlacedTensor {
  /** Name of the file in the checkpoint's folder. */
  readonly file: string;
  /** Of the tensor in that file, for messages. */
  readonly storedName: string;
  /** How it differs from what the engine has, which reading it undoes; null: not at all. */
  readonly restoration: GgufRestoration | FusedForm | ScaledForm | null;
  /** What it is of blocks that hold several tensors, before `restoration`. */
  readonly blockPart?: BlockPart;
  /** Where the scales of its codes are, if they lie apart. */
  readonly scales?: { readonly file: string; readonly offset: number };
  /** Of packed integers, the tensors that it is made of. */
  readonly packed?: Packed<StoredTensor>;
}

export interface LocalCheckpoint {
  /** Folder of the files. */
  readonly dir: string;
  readonly shape: ModelShape;
  readonly tensors: readonly StoredTensor[];
}

/**
 * @param model a folder, or a .gguf file, of a split one the first part
 * @throws FailureError of the checkpoint parsers; CheckpointIncomplete where a file or a tensor of the index is not there
 */
export async function openCheckpoint(model: string): Promise<LocalCheckpoint> {
  const gguf = await findGguf(model);
  if (gguf === null) {
    const config = parseConfigObject(await readConfig(model));
    const shape = parseCheckpointConfig(config);
    const tensors = await readTensors(model);
    checkLeftAlone(config, tensors);
    const inForm = joinPacked(config, inEngineForm(shape, tensors).map(toStored));
    return { dir: model, shape: asStored(shape, tensors), tensors: inForm };
  }
  const { shape, tensors } = readGgufCheckpoint(await readLocalGguf(gguf, { arrays: false }));
  return { dir: dirname(gguf), shape, tensors };
}

function toStored({ fused, scaledBy, ...tensor }: EngineTensor<StoredTensor>): StoredTensor {
  const stored = fused === undefined ? tensor : { ...tensor, restoration: fused };
  return scaledBy === undefined
    ? stored
    : { ...stored, scales: { file: scaledBy.file, offset: scaledBy.offset } };
}

/**
 * The layer for multi-token prediction of a checkpoint in safetensors.
 * @throws FailureError of the checkpoint parsers
 */
export async function readLocalMtpHead(dir: string): Promise<MtpHead> {
  const { shape, tensors } = await openCheckpoint(dir);
  return { shape, tensors: tensors.filter(({ name }) => isOfMtp(name)) };
}

/** An EAGLE-3 draft model on this machine. */
export interface LocalEagle3 extends Eagle3Head<StoredTensor> {
  readonly dir: string;
}

/** @throws FailureError as `readEagle3Head` */
export async function openEagle3(dir: string, trunk: ModelShape): Promise<LocalEagle3> {
  const [config, tensors] = await ofDraftModel(
    dir,
    async () => [await readConfig(dir), await readTensors(dir)] as const,
  );
  return { dir, ...readEagle3Head(dir, config, tensors, trunk) };
}

/** A draft model of method draft_model. @throws FailureError as `checkDraftModel`, and of the checkpoint parsers */
export async function openDraftModel(dir: string, trunk: ModelShape): Promise<LocalCheckpoint> {
  const model = await ofDraftModel(dir, () => openCheckpoint(dir));
  checkDraftModel(dir, model, trunk);
  return model;
}

function ofDraftModel<T>(dir: string, read: () => Promise<T>): Promise<T> {
  return read().catch((error: unknown) => {
    throw inDraftModel(dir, error);
  });
}

async function readConfig(dir: string): Promise<string> {
  const file = join(dir, 'config.json');
  const { size } = await stat(file).catch((cause: unknown) => {
    throw incomplete(file, cause);
  });
  checkSmallFile('config.json', size);
  return readFile(file, 'utf8');
}

async function readTensors(dir: string): Promise<StoredTensor[]> {
  const text = await readIndex(join(dir, safetensorsIndexFile));
  const index = text === null ? null : await parseIndexInSteps(text);
  const files = index?.files ?? [safetensorsSingleFile];
  const absent = files.filter((file) => !existsSync(join(dir, file)));
  if (absent.length > 0) throw missingFiles(absent);
  const tensors: StoredTensor[] = [];
  for (const file of files) {
    const entries = await readHeader(dir, file);
    tensors.push(...entries.map((entry) => ({ ...entry, file, storedName: entry.name, restoration: null })));
  }
  if (index !== null) checkIndexed(index, tensors);
  return tensors;
}

/** Null where there is none. */
async function readIndex(path: string): Promise<Uint8Array | null> {
  const size = await stat(path).then(
    (stats) => stats.size,
    () => null,
  );
  if (size === null) return null;
  if (size <= maxIndexBytes) return readFile(path);
  throw new FailureError(
    'CheckpointCorrupt',
    `${path} has ${String(size)} bytes, far more than such a file takes`,
  );
}

export async function readHeader(dir: string, file: string): Promise<PlacedTensor[]> {
  const path = join(dir, file);
  const handle = await open(path).catch((cause: unknown) => {
    throw incomplete(path, cause);
  });
  try {
    const { size } = await handle.stat();
    const first = Buffer.alloc(Math.min(headerLengthBytes, size));
    await handle.read(first, 0, first.length, 0);
    const header = Buffer.alloc(parseHeaderLength(file, first, size));
    await handle.read(header, 0, header.length, headerLengthBytes);
    return await parseHeaderInSteps(file, header, size);
  } finally {
    await handle.close();
  }
}

function incomplete(file: string, cause: unknown): FailureError {
  return new FailureError('CheckpointIncomplete', `${file} cannot be read`, undefined, { cause });
}
