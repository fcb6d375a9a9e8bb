// Which layers a stage of a pipeline has, and what of a model's shape and weights is its own. The first stage has the
// embedding and the head too, where tokens are sampled. As native/src/model/stage.cpp divides them.

import { FailureError } from '@llmservice/crds';
import type { ModelShape } from '../config/model-shape.js';
import type { Counted } from './counted-entries.js';
import type { ResidentWeights } from './resident-weights.js';

/** Stage `index` of `count`. */
export interface Stage {
  readonly index: number;
  readonly count: number;
}

export function stagesOf(count: number): Stage[] {
  return Array.from({ length: count }, (_, index) => ({ index, count }));
}

/** [begin, end): parts that differ by one at most, of which later ones have more. */
function layersOf(layers: number, { index, count }: Stage): [begin: number, end: number] {
  return [Math.floor((layers * index) / count), Math.floor((layers * (index + 1)) / count)];
}

/** The same with the stage's layers alone. */
export function stageShape(shape: ModelShape, stage: Stage): ModelShape {
  const [begin, end] = layersOf(shape.layerKinds.length, stage);
  return {
    ...shape,
    layerKinds: shape.layerKinds.slice(begin, end),
    feedForward: shape.feedForward.slice(begin, end),
    windows: shape.windows.slice(begin, end),
  };
}

/** As those of a model of stageShape(). What is of no layer is the first stage's. */
export function stageWeights(
  weights: ResidentWeights,
  { layerKinds }: ModelShape,
  stage: Stage,
): ResidentWeights {
  const [begin, end] = layersOf(layerKinds.length, stage);
  const own = <T extends Counted>(entries: readonly T[]): T[] =>
    entries.flatMap((entry) => {
      const placed = Object.entries(entry.layers ?? {});
      const count = (of: typeof placed): number => of.reduce((sum, [, copies]) => sum + copies, 0);
      const here = placed.filter(([layer]) => Number(layer) >= begin && Number(layer) < end);
      const copies = count(here) + (stage.index === 0 ? entry.copies - count(placed) : 0);
      const layers = Object.fromEntries(here.map(([layer, each]) => [Number(layer) - begin, each]));
      return copies === 0 ? [] : [{ ...entry, copies, layers }];
    });
  return { ...weights, matrices: own(weights.matrices), vectors: own(weights.vectors) };
}

/** @throws FailureError ParallelismInvalid, saying what stages cannot divide */
export function checkPipeline(shape: ModelShape, pipeline: number): void {
  if (pipeline === 1) return;
  const layers = shape.layerKinds.length;
  const why = [
    [pipeline > layers, `it has ${String(layers)} layers; values that work: 1 to ${String(layers)}`],
    [shape.bidirectional, 'it is an encoder, which stages do not divide; set it to 1'],
    [shape.sharedKv !== null, 'layers attend by the keys and values of layers of another stage; set it to 1'],
    [shape.layerEmbeddings !== null, 'each layer has an embedding of its own; set it to 1'],
  ] as const;
  const found = why.find(([holds]) => holds);
  if (found === undefined) return;
  throw new FailureError(
    'ParallelismInvalid',
    `parallelism.pipeline ${String(pipeline)} does not divide ${shape.architecture}: ${found[1]}`,
    { pipeline },
  );
}
