// Which numbers of tensor-parallel ranks divide a model: heads by group, so that GQA and GDN ratios hold.

import { headsOf } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';
import { FailureError } from '@llmservice/crds';
import { sharedColumns } from './rank-weights.js';
import type { ResidentWeights } from './resident-weights.js';

/** As in the resource's schema. */
const maxTensorParallel = 64;

interface SplitMatrix {
  readonly cols: number;
  /** Columns that share a scale, of which a rank holds whole ones. */
  readonly block: number;
  /** Over all heads, of which a rank has a part of each. */
  readonly rounds: number;
}

/** What ranks split by columns: the matrices of o, down, out_proj and mtp.fc. */
function splitByColumns({ matrices }: ResidentWeights): SplitMatrix[] {
  return matrices.flatMap(({ cols, parts }) =>
    parts
      .filter(({ split }) => split === 'columns')
      .map(({ held, reordered, rounds = 1 }) => {
        return { cols, block: reordered === true ? cols : sharedColumns(held), rounds };
      }),
  );
}

function cutBy(weights: ResidentWeights, tensor: number): SplitMatrix[] {
  if (tensor === 1) return [];
  return splitByColumns(weights).filter(({ cols, block, rounds }) => cols % (tensor * rounds * block) !== 0);
}

function divides(shape: ModelShape, weights: ResidentWeights, tensor: number): boolean {
  const { heads, kvHeads, ffn, gdn, moe } = shape;
  if (cutBy(weights, tensor).length > 0) return false;
  if (weights.drafter !== undefined && !dividesDrafter(weights.drafter.shape, kvHeads, tensor)) return false;
  // KV heads either spread over ranks or, beyond one per rank, replicate evenly.
  const kv = headsOf(shape).every((each) => spreads(each.kvHeads, tensor));
  // Every rank holds its share of every expert's width.
  const experts = moe === null || (moe.ffn % tensor === 0 && moe.sharedFfn % tensor === 0);
  return (
    heads % tensor === 0 && kv && ffn % tensor === 0 && experts && (gdn === null || gdn.kHeads % tensor === 0)
  );
}

function spreads(kvHeads: number, tensor: number): boolean {
  return kvHeads % tensor === 0 || tensor % kvHeads === 0;
}

/** Ranks hold KV heads of the draft model as they hold the model's: their own, or one that is shared. */
function dividesDrafter(
  { heads, kvHeads, globalAttention, ffn, moe }: ModelShape,
  kvHeadsOfModel: number,
  tensor: number,
): boolean {
  const own = kvHeads === kvHeadsOfModel || (kvHeads % tensor === 0 && kvHeadsOfModel % tensor === 0);
  const kv = own && spreads(globalAttention?.kvHeads ?? kvHeads, tensor);
  const experts = moe === null || (moe.ffn % tensor === 0 && moe.sharedFfn % tensor === 0);
  return kv && heads % tensor === 0 && ffn % tensor === 0 && experts;
}

/** All that work for this model, ascending. */
export function validTensorParallel(shape: ModelShape, weights: ResidentWeights): number[] {
  return Array.from({ length: maxTensorParallel }, (_, i) => i + 1).filter((tensor) =>
    divides(shape, weights, tensor),
  );
}

/** @throws FailureError ParallelismInvalid, naming the values that work */
export function checkTensorParallel(shape: ModelShape, weights: ResidentWeights, tensor: number): void {
  if (divides(shape, weights, tensor)) return;
  const heads = `${String(shape.heads)} heads, ${headsOf(shape)
    .map(({ kvHeads }) => String(kvHeads))
    .join(' or ')} KV heads`;
  const gdn = shape.gdn === null ? '' : `, ${String(shape.gdn.kHeads)} GDN key heads`;
  const blocks = cutBy(weights, tensor)
    .filter(({ block }) => block > 1)
    .map(({ cols, block, rounds }) => {
      const inRounds =
        rounds > 1 ? ` of linear_attn.out_proj, in ${String(rounds)} rounds over all key heads,` : '';
      return `; a width of ${String(cols)}${inRounds} scaled in blocks of ${String(block)} columns`;
    });
  const { drafter } = weights;
  const drafts =
    drafter === undefined
      ? ''
      : `; the draft model has ${String(drafter.shape.heads)} heads, ${String(drafter.shape.kvHeads)} KV heads, FFN ${String(drafter.shape.ffn)}`;
  const widths = [shape.ffn, shape.moe?.ffn ?? 0, shape.moe?.sharedFfn ?? 0].filter((width) => width > 0);
  throw new FailureError(
    'ParallelismInvalid',
    `parallelism.tensor ${String(tensor)} does not divide the model (${heads}${gdn}, FFN ${widths.join(', ')}${[...new Set(blocks)].join('')}${drafts}); ` +
      `values that work: ${validTensorParallel(shape, weights).join(', ')}`,
    { tensor },
  );
}
