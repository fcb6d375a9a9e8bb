// Matrices and vectors that are alike as one entry, with how many there are, and of which layers.

import type { ModelShape } from '../config/model-shape.js';

export type CopiesByLayer = Readonly<Record<number, number>>;

export interface Counted {
  readonly copies: number;
  /** How many of them are of which layer; the others are of none. */
  readonly layers?: CopiesByLayer;
}

/** A layer of the model: behind the last, GLM's releases have one for multi-token prediction, which is not read. */
export const layerNumber = /^(?:model\.language_model|model|language_model\.model)\.layers\.(\d+)\./;

/** What is behind the last layer is where that is. */
const finalNorm = /^(?:model\.language_model|model|language_model\.model)\.norm\./;

export function layersOf(
  name: string,
  { layerKinds }: ModelShape,
  copies: number,
): { readonly layers?: CopiesByLayer } {
  const layer = finalNorm.test(name) ? layerKinds.length - 1 : layerNumber.exec(name)?.[1];
  return layer === undefined ? {} : { layers: { [layer]: copies } };
}

/** Equal entries as one. */
export function counted<T extends Counted>(entries: readonly T[]): T[] {
  const byContent = new Map<string, T>();
  for (const entry of entries) {
    const content = JSON.stringify({ ...entry, copies: 0, layers: null });
    const before = byContent.get(content);
    const layers: Record<number, number> = { ...before?.layers };
    for (const [layer, copies] of Object.entries(entry.layers ?? {}))
      layers[Number(layer)] = (layers[Number(layer)] ?? 0) + copies;
    const all = { ...entry, copies: (before?.copies ?? 0) + entry.copies };
    byContent.set(content, Object.keys(layers).length === 0 ? all : { ...all, layers });
  }
  return [...byContent.values()];
}
