// Whether the tensors of a checkpoint are those that its shape takes, by headers alone: before a device is taken, and before a
// weight is read. The engine judges the same again when it reads them.

import { FailureError } from '@llmservice/crds';
import type { Eagle3 } from '../config/eagle3-config.js';
import type { ModelShape } from '../config/model-shape.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { checkStorage } from './check-storage.js';
import { matricesStoredWith } from './divided-tensors.js';
import { storedName } from './engine-names.js';
import { draftTensors, eagle3Tensors, trunkTensors, type Expected } from './expected-tensors.js';
import { storedSides } from './fused-experts.js';
import { isOfMtp } from './mtp-head.js';
import { plainTypes } from './plain-types.js';

/**
 * @param tensors of the checkpoint, those that nobody reads included
 * @throws FailureError CheckpointIncomplete where one is missing, CheckpointCorrupt where one has other sides,
 *   UnsupportedQuantization where one is of a type that is not read
 */
export function checkTensors(shape: ModelShape, tensors: readonly TensorEntry[]): void {
  const byName = namesOf(tensors.filter(({ name }) => !isOfMtp(name)));
  checkStorage(byName);
  checkExpected(
    trunkTensors(shape, byName),
    byName,
    (name) => storedName(shape, name),
    (name) => matricesStoredWith(shape, name),
  );
}

/** The same of the layer for multi-token prediction on a model of `shape`. @throws as `checkTensors` */
export function checkDraftTensors(shape: ModelShape, tensors: readonly TensorEntry[]): void {
  const byName = namesOf(tensors.filter(({ name }) => isOfMtp(name)));
  checkStorage(byName);
  checkExpected(draftTensors(shape, byName), byName, (name) => storedName(shape, name));
}

/** The same of an EAGLE-3 draft model. @param nameOf a tensor of it, for messages @throws as `checkTensors` */
export function checkEagle3Tensors(
  shape: ModelShape,
  eagle3: Eagle3,
  tensors: readonly TensorEntry[],
  nameOf: (name: string) => string,
): void {
  const byName = namesOf(tensors);
  checkStorage(byName);
  checkExpected(eagle3Tensors(shape, eagle3, byName), byName, nameOf);
}

function namesOf(tensors: readonly TensorEntry[]): ReadonlyMap<string, TensorEntry> {
  return new Map(tensors.map((tensor) => [tensor.name, tensor]));
}

function checkExpected(
  all: Iterable<Expected>,
  byName: ReadonlyMap<string, TensorEntry>,
  nameOf: (name: string) => string,
  matricesWith: (name: string) => number = () => 1,
): void {
  for (const { name, sides, isMatrix } of all) {
    const found = byName.get(`${name}_packed`) ?? byName.get(name);
    if (found === undefined) {
      throw new FailureError('CheckpointIncomplete', `the checkpoint has no tensor ${nameOf(name)}`);
    }
    const own = isMatrix ? valueSides(found) : found.shape;
    if (own.join() !== sides.join()) {
      const inFile = (each: readonly number[]): string => {
        const [rows = 0, ...others] = storedSides(found, each);
        return listed([rows * matricesWith(name), ...others]);
      };
      throw new FailureError(
        'CheckpointCorrupt',
        `tensor ${nameOf(found.name)} has shape ${inFile(own)} where config.json implies ${inFile(sides)}`,
      );
    }
    if (isMatrix || plainTypes.includes(found.dtype)) continue;
    throw new FailureError(
      'UnsupportedQuantization',
      `tensor ${nameOf(name)} has type ${found.dtype}; vectors are read as F32, BF16 or F16`,
    );
  }
}

/** In values: two of NVFP4 share a byte. */
function valueSides({ dtype, shape }: TensorEntry): readonly number[] {
  return dtype === 'U8' ? [...shape.slice(0, -1), 2 * (shape.at(-1) ?? 0)] : shape;
}

function listed(sides: readonly number[]): string {
  return `[${sides.join(', ')}]`;
}
