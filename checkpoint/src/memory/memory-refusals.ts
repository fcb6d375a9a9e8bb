// Why a model does not fit one rank's memory, with single changes to the spec that were each tried and make it fit.

import { formatGiB, FailureError } from '@llmservice/crds';
import { measure, ranksPerMemory, type MemoryParts, type MemoryPlanInput } from './memory-parts.js';
import { fewestBatchedTokens } from '../weights/speculation.js';
import { validTensorParallel } from '../weights/tensor-parallel.js';

/** Not one KV block is left: weights, state and workspace take all. */
export function tooLarge(input: MemoryPlanInput, parts: MemoryParts): FailureError {
  const needed = parts.budget - parts.left + parts.kvBytesPerBlock;
  const { accelerator } = input;
  // More memory would have to hold the context that is asked for, too.
  const withContext = parts.budget - parts.left + parts.kvBytesPerBlock * blocksWanted(input);
  const whose = accelerator === 'cpu' ? 'of the machine' : 'per device';
  const remedies = [
    ...remediesFor(input),
    `memory of at least ${formatGiB(neededMemory(input, withContext))} ${whose}`,
  ];
  const share = ranksPerMemory(input) === 1 ? '' : ` shared by ${String(ranksPerMemory(input))} ranks`;
  return new FailureError(
    'ModelTooLarge',
    `one rank needs ${formatGiB(needed)} (weights ${formatGiB(parts.weights)}, recurrent state ` +
      `${formatGiB(parts.state)}, workspace ${formatGiB(parts.workspace)}, reserved ${formatGiB(parts.reserved)}, ` +
      `one KV block) but may use ${formatGiB(parts.budget)} ` +
      `(${String(input.memoryUtilizationPercent)} % of ${formatGiB(input.memoryBytes)}${share}). ` +
      `Any of these would do: ${remedies.join('; ')}`,
    { needed, available: parts.budget },
  );
}

export function contextTooLong(input: MemoryPlanInput, maxModelLen: number, fits: number): FailureError {
  const remedies = [`engine.maxModelLen ${String(fits)}`, ...remediesFor(input)];
  return new FailureError(
    'KvCacheTooSmall',
    `a sequence of ${String(maxModelLen)} tokens does not fit; the longest that does is ${String(fits)}. ` +
      `Any of these would do: ${remedies.join('; ')}`,
    { fits, maxModelLen },
  );
}

/** Single changes, each of which was tried and makes the plan hold; the cheapest first. */
function remediesFor(input: MemoryPlanInput): string[] {
  const wanted = blocksWanted(input);
  const holds = (change: Partial<MemoryPlanInput>): boolean => {
    const parts = measure({ ...input, ...change });
    return parts.left >= parts.kvBytesPerBlock * wanted;
  };
  const found: string[] = [];
  const percent = range(input.memoryUtilizationPercent + 1, 95).find((n) =>
    holds({ memoryUtilizationPercent: n }),
  );
  if (percent !== undefined) found.push(`engine.memoryUtilizationPercent ${String(percent)}`);
  const seqs = halvings(input.maxNumSeqs).find((n) => holds({ maxNumSeqs: n }));
  if (seqs !== undefined) found.push(`engine.maxNumSeqs ${String(seqs)}`);
  const rows = halvings(input.maxNumBatchedTokens)
    .filter((n) => n >= Math.max(fewestBatchedTokens(input.maxNumSeqs, input.speculative), rowsOfOne(input)))
    .find((n) => holds({ maxNumBatchedTokens: n }));
  if (rows !== undefined) found.push(`engine.maxNumBatchedTokens ${String(rows)}`);
  if (input.kvCacheDtype === 'auto' && holds({ kvCacheDtype: 'fp8' })) found.push('engine.kvCacheDtype fp8');
  // Ranks on the CPU share one memory: more of them hold no more.
  const tensor =
    input.accelerator === 'cpu'
      ? undefined
      : validTensorParallel(input.shape, input.weights).find((n) => n > input.tensor && holds({ tensor: n }));
  if (tensor !== undefined) found.push(`parallelism.tensor ${String(tensor)}`);
  return found;
}

/** Of one sequence as long as is asked for. */
function blocksWanted({ maxModelLen, blockSize }: MemoryPlanInput): number {
  return Math.ceil((maxModelLen ?? 1) / blockSize);
}

/** Rows that a step must have for one sequence: an encoder's is not divided. */
function rowsOfOne({ shape, maxModelLen }: MemoryPlanInput): number {
  return shape.bidirectional ? (maxModelLen ?? 1) : 1;
}

function neededMemory(input: MemoryPlanInput, needed: number): number {
  return Math.ceil((needed * ranksPerMemory(input) * 100) / input.memoryUtilizationPercent);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

function halvings(from: number): number[] {
  const values: number[] = [];
  for (let n = Math.floor(from / 2); n >= 1; n = Math.floor(n / 2)) values.push(n);
  return values;
}
