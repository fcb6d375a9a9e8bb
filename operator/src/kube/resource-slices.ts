// Devices that drivers list, as the API writes them, and which of them count: of a pool the slices of its newest generation,
// since one that changes has slices of two for a while. Pure.

import type { KubeObject } from './types.js';

export interface ResourceSlice extends KubeObject {
  readonly spec?: {
    readonly driver: string;
    readonly pool: {
      readonly name: string;
      readonly generation?: number;
      readonly resourceSliceCount?: number;
    };
    readonly nodeName?: string;
    readonly devices?: readonly {
      readonly name: string;
      readonly attributes?: Readonly<Record<string, { readonly string?: string }>>;
    }[];
  };
}

export type SliceSpec = NonNullable<ResourceSlice['spec']>;

/** Pools by DRIVER/NAME, each with the slices of its newest generation. */
export function newestSlices(slices: readonly ResourceSlice[]): Map<string, SliceSpec[]> {
  const pools = new Map<string, SliceSpec[]>();
  for (const { spec } of slices) {
    if (spec === undefined) continue;
    const key = poolKey(spec);
    const known = pools.get(key) ?? [];
    const newer = generationOf(spec) - generationOf(known[0] ?? spec);
    if (newer >= 0) pools.set(key, newer > 0 ? [spec] : [...known, spec]);
  }
  return pools;
}

export function poolKey({ driver, pool }: SliceSpec): string {
  return `${driver}/${pool.name}`;
}

function generationOf({ pool }: SliceSpec): number {
  return pool.generation ?? 0;
}
