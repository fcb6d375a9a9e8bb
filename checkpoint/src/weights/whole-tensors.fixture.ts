// All tensors that a model of a shape takes, in BF16, experts one by one.

import type { ModelShape } from '../config/model-shape.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { draftTensors, trunkTensors } from './expected-tensors.js';

const none: ReadonlyMap<string, unknown> = new Map();

const entries = (expected: Iterable<{ name: string; sides: readonly number[] }>): TensorEntry[] =>
  Array.from(expected, ({ name, sides }) => ({
    ...{ name, dtype: 'BF16', shape: sides },
    bytes: sides.reduce((product, side) => product * side, 2),
  }));

export const wholeTrunk = (shape: ModelShape): TensorEntry[] => entries(trunkTensors(shape, none));

/** With a dense feed-forward. */
export const wholeHead = (shape: ModelShape): TensorEntry[] => entries(draftTensors(shape, none));
