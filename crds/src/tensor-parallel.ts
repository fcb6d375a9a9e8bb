// Which numbers of tensor-parallel ranks divide a model: heads by group, so that GQA and GDN ratios hold.

import type { ModelShape } from './checkpoint.js';
import { FailureError } from './failures.js';

/** As in the resource's schema. */
const maxTensorParallel = 64;

/** Quantized weights are scaled and summed in blocks of 128 columns: a rank holds whole ones of a row-parallel matrix. */
const fp8BlockColumns = 128;

/** Widths of the inputs of o, down and out_proj, which ranks split by columns. */
function splitWidths({ heads, headDim, ffn, gdn, moe }: ModelShape): number[] {
  const recurrent = gdn === null ? 0 : gdn.vHeads * gdn.vDim;
  const widths = [heads * headDim, ffn, recurrent, moe?.ffn ?? 0, moe?.sharedFfn ?? 0];
  return widths.filter((width) => width > 0);
}

function blockColumnsOf(shape: ModelShape): number {
  return shape.blockColumns ?? fp8BlockColumns;
}

function keepsBlocks(shape: ModelShape, tensor: number): boolean {
  if (tensor === 1 || shape.quantization === 'none') return true;
  return splitWidths(shape).every((width) => width % (tensor * blockColumnsOf(shape)) === 0);
}

function divides(shape: ModelShape, tensor: number): boolean {
  const { heads, kvHeads, ffn, gdn, moe } = shape;
  if (!keepsBlocks(shape, tensor)) return false;
  if (gdn?.tiled === true && tensor > 1) return false;
  // KV heads either spread over ranks or, beyond one per rank, replicate evenly.
  const kv = kvHeads % tensor === 0 || tensor % kvHeads === 0;
  // Every rank holds its share of every expert's width.
  const experts = moe === null || (moe.ffn % tensor === 0 && moe.sharedFfn % tensor === 0);
  return (
    heads % tensor === 0 && kv && ffn % tensor === 0 && experts && (gdn === null || gdn.kHeads % tensor === 0)
  );
}

/** All that work for this model, ascending. */
export function validTensorParallel(shape: ModelShape): number[] {
  return Array.from({ length: maxTensorParallel }, (_, i) => i + 1).filter((tensor) =>
    divides(shape, tensor),
  );
}

/** @throws FailureError ParallelismInvalid, naming the values that work */
export function checkTensorParallel(shape: ModelShape, tensor: number): void {
  if (divides(shape, tensor)) return;
  const heads = `${String(shape.heads)} heads, ${String(shape.kvHeads)} KV heads`;
  const gdn = shape.gdn === null ? '' : `, ${String(shape.gdn.kHeads)} GDN key heads`;
  const blocks = keepsBlocks(shape, tensor)
    ? ''
    : `; scaled in blocks of ${String(blockColumnsOf(shape))} columns in widths of ${splitWidths(shape).join(', ')}`;
  const rounds =
    shape.gdn?.tiled === true ? '; the value heads of this GGUF file lie in rounds over all key heads' : '';
  const widths = [shape.ffn, shape.moe?.ffn ?? 0, shape.moe?.sharedFfn ?? 0].filter((width) => width > 0);
  throw new FailureError(
    'ParallelismInvalid',
    `parallelism.tensor ${String(tensor)} does not divide the model (${heads}${gdn}, FFN ${widths.join(', ')}${blocks}${rounds}); ` +
      `values that work: ${validTensorParallel(shape).join(', ')}`,
    { tensor },
  );
}
