// Types of tensors in GGUF files: the ones that the engine reads, and what the others are called.
// native/src/ops/block_types.h describes the blocks.

import { nvfp4 } from './gguf-nvfp4.js';

export interface GgufType {
  readonly name: string;
  /** Columns of one block, and its length; 1 and the element's length for unquantized types. */
  readonly columns: number;
  readonly bytes: number;
}

/** By the number that stands for it in the file. */
export const ggufTypes: ReadonlyMap<number, GgufType> = new Map([
  [0, { name: 'F32', columns: 1, bytes: 4 }],
  [1, { name: 'F16', columns: 1, bytes: 2 }],
  [30, { name: 'BF16', columns: 1, bytes: 2 }],
  [8, { name: 'Q8_0', columns: 32, bytes: 34 }],
  [2, { name: 'Q4_0', columns: 32, bytes: 18 }],
  [3, { name: 'Q4_1', columns: 32, bytes: 20 }],
  [6, { name: 'Q5_0', columns: 32, bytes: 22 }],
  [7, { name: 'Q5_1', columns: 32, bytes: 24 }],
  [10, { name: 'Q2_K', columns: 256, bytes: 84 }],
  [11, { name: 'Q3_K', columns: 256, bytes: 110 }],
  [12, { name: 'Q4_K', columns: 256, bytes: 144 }],
  [13, { name: 'Q5_K', columns: 256, bytes: 176 }],
  [14, { name: 'Q6_K', columns: 256, bytes: 210 }],
  [20, { name: 'IQ4_NL', columns: 32, bytes: 18 }],
  [23, { name: 'IQ4_XS', columns: 256, bytes: 136 }],
  [39, { name: 'MXFP4', columns: 32, bytes: 17 }],
  [40, nvfp4],
]);

/** What packed integers become, of GPTQ, AWQ and compressed-tensors. */
const integerTypes: readonly GgufType[] = [
  { name: 'INT4', columns: 32, bytes: 20 },
  { name: 'INT8', columns: 32, bytes: 36 },
];

/** What there is to choose from, for messages. */
export function ggufTypeNames(): string {
  return Array.from(ggufTypes.values(), ({ name }) => name).join(', ');
}

const foreign: ReadonlyMap<number, string> = new Map([
  [9, 'Q8_1'],
  [15, 'Q8_K'],
  [16, 'IQ2_XXS'],
  [17, 'IQ2_XS'],
  [18, 'IQ3_XXS'],
  [19, 'IQ1_S'],
  [21, 'IQ3_S'],
  [22, 'IQ2_S'],
  [24, 'I8'],
  [25, 'I16'],
  [26, 'I32'],
  [27, 'I64'],
  [28, 'F64'],
  [29, 'IQ1_M'],
  [34, 'TQ1_0'],
  [35, 'TQ2_0'],
  [41, 'Q1_0'],
]);

/** Of blocks that are not read. */
export function refusedGgufTypes(): string[] {
  return [...foreign.values()].filter((name) => !/^[IF]\d+$/.test(name));
}

export function ggufTypeName(type: number): string {
  return ggufTypes.get(type)?.name ?? foreign.get(type) ?? `number ${String(type)}`;
}

const blockTypes: ReadonlyMap<string, GgufType> = new Map(
  [...ggufTypes.values(), ...integerTypes]
    .filter(({ columns }) => columns > 1)
    .map((type) => [type.name, type]),
);

/** The block type of this name; undefined for types whose elements stand alone. */
export function blockType(name: string): GgufType | undefined {
  return blockTypes.get(name);
}
