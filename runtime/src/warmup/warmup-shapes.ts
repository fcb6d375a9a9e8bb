// Which steps an engine runs before it serves, the most useful first: the largest one, which proves that memory
// suffices; prompts, for the kernels that each length takes; decodes, whose launches a GPU keeps as graphs by the number
// of sequences, the rows of each, and the power of two of the longest. Pure.

import type { Speculative } from '@llmservice/checkpoint';
import type { EngineConfig } from '@llmservice/crds';

export type Warmup = EngineConfig['engine']['warmup'];

export type WarmupShape =
  /** The last `rows` rows of a prompt, behind `context` tokens; of `batch` prompts, only the first behind any. */
  | { readonly kind: 'prompt'; readonly batch: number; readonly rows: number; readonly context: number }
  /** `batch` sequences, each a token and `drafts` drafts, the longest behind `context` tokens. */
  | {
      readonly kind: 'decode';
      readonly batch: number;
      readonly drafts: number;
      /** Of the drafts before, those that a hybrid model takes into its states in this step. */
      readonly accepted: number;
      readonly context: number;
    };

export interface WarmupLimits {
  readonly maxModelLen: number;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly numBlocks: number;
  readonly blockSize: number;
  readonly hybrid: boolean;
  /** All of a sequence is one step, and there are no decodes; absent: there are. */
  readonly bidirectional?: boolean;
  readonly speculative: Speculative;
}

/** Launches know the longest sequence of a step by powers of two from here on (backends/gpu/step_segments.h). */
const minLongest = 1024;
/** Below it `auto` and above it `long` find contexts. */
const longContext = 8192;
/** Prompts of more rows run the same kernels; the largest step is one of them. */
const maxPromptRows = 2048;
/** As many graphs as the native engine keeps (backends/gpu_loader.cpp), less those of steps that nobody foresaw. */
const graphsToLeave = 192;
/** Sequences up to here are distinguished one by one, beyond by eights: one more is then a small part of the step. */
const exactBatches = 16;
/** A decode runs so often: what begins a sequence, as it is, and captured. */
export const decodeRuns = 3;

/** All shapes of a warm-up, in the order to run them; a shape that the blocks cannot hold is not among them. */
export function warmupShapes(warmup: Warmup, onGpu: boolean, limits: WarmupLimits): WarmupShape[] {
  const preset = warmup.preset === 'auto' && !onGpu ? 'none' : warmup.preset;
  const wanted = [
    // Memory of the host is had when it is asked for; of a GPU it is proven before anybody is served.
    ...(onGpu || preset !== 'none' ? [largestStep(limits)] : []),
    ...warmup.shapes.flatMap((each) => explicitShapes(each, limits)),
    ...(preset === 'none' ? [] : presetShapes(preset, limits)),
  ];
  const all = distinct(wanted)
    .filter((shape) => limits.bidirectional !== true || (shape.kind === 'prompt' && shape.context === 0))
    .filter((shape) => blocksOf(shape, limits) <= limits.numBlocks);
  const decodes = all.filter(({ kind }) => kind === 'decode');
  const kept = new Set(decodes.slice(0, Math.floor(graphsToLeave / graphsPerDecode(limits))));
  return all.filter((shape) => shape.kind === 'prompt' || kept.has(shape));
}

/** Rows of the largest step at the end of the longest context; of several prompts, where one has not so many. */
function largestStep(limits: WarmupLimits): WarmupShape {
  const { maxModelLen, maxNumSeqs, maxNumBatchedTokens, numBlocks } = limits;
  const one = lastStep(maxModelLen - 1, maxNumBatchedTokens, limits);
  const batch = Math.min(
    maxNumSeqs,
    Math.floor(maxNumBatchedTokens / one.rows),
    Math.floor(numBlocks / ownBlocks(one, limits)),
  );
  return { ...one, batch: Math.max(1, batch) };
}

type PromptShape = Extract<WarmupShape, { kind: 'prompt' }>;

/** Of a prompt of about `length` tokens, which ends on a border and then has as many rows as may be. */
function lastStep(length: number, maxRows: number, limits: WarmupLimits): PromptShape {
  const rows = Math.min(length, maxRows);
  const unit = contextUnit(limits);
  return { kind: 'prompt', batch: 1, rows, context: Math.floor((length - rows) / unit) * unit };
}

function presetShapes(preset: 'auto' | 'short' | 'long' | 'all', limits: WarmupLimits): WarmupShape[] {
  const { maxModelLen, maxNumSeqs, maxNumBatchedTokens } = limits;
  const longests = doublings(minLongest, maxModelLen);
  const chosen = {
    short: longests.slice(0, 1),
    auto: longests.filter((longest) => longest <= longContext),
    long: longests.filter((longest) => longest > longContext).reverse(),
    all: longests,
  }[preset];
  const longestPrompt = maxModelLen - 1;
  const prompts = doublings(64, Math.min(maxNumBatchedTokens, longestPrompt, maxPromptRows));
  const deep = preset === 'long' || preset === 'all' ? chosen : [];
  const batches = batchSizes(maxNumSeqs);
  return [
    ...[...prompts, ...deep].map((length) =>
      lastStep(Math.min(length, longestPrompt), maxNumBatchedTokens, limits),
    ),
    ...chosen.flatMap((longest) => decodesWithin(longest, batches, limits)),
  ];
}

/** `PROMPT:MAX`: a prompt of so many tokens, and decodes from there until prompt and output have MAX. */
function explicitShapes(text: string, limits: WarmupLimits): WarmupShape[] {
  const { maxModelLen, maxNumSeqs, maxNumBatchedTokens } = limits;
  const [prompt = 1, max = 1] = text.split(':').map((tokens) => Math.min(Number(tokens), maxModelLen));
  const longests = doublings(minLongest, max).filter((longest) => longest > prompt || longest >= max);
  const batches = doublings(1, maxNumSeqs).map((batch) => Math.min(batch, maxNumSeqs));
  return [
    lastStep(Math.max(1, Math.min(prompt, maxModelLen - 1)), maxNumBatchedTokens, limits),
    ...longests.flatMap((longest) => decodesWithin(longest, batches, limits)),
  ];
}

/** @param longest a power of two: the longest sequence is one that launches round up to it */
function decodesWithin(longest: number, batches: readonly number[], limits: WarmupLimits): WarmupShape[] {
  const unit = contextUnit(limits);
  const end = Math.floor(Math.min(longest, limits.maxModelLen) / unit) * unit;
  const context = longest === minLongest ? 0 : end - unit;
  const rows = rowsOfDecode(limits);
  return batches.flatMap((batch) =>
    rows.map(({ drafts, accepted }) => ({ kind: 'decode', batch, drafts, accepted, context }) as const),
  );
}

/** With drafts: all of them, after all that may have been right before; then none. */
function rowsOfDecode({
  hybrid,
  speculative,
  maxModelLen,
}: WarmupLimits): { drafts: number; accepted: number }[] {
  const plain = { drafts: 0, accepted: 0 };
  const drafts = speculative.method === 'none' ? 0 : speculative.tokens;
  if (drafts === 0 || maxModelLen <= decodeRuns * (1 + drafts) + 1) return [plain];
  const taken = hybrid ? Array.from({ length: drafts }, (_, i) => drafts - i) : [];
  return [{ drafts, accepted: 0 }, ...taken.map((accepted) => ({ drafts, accepted })), plain];
}

/** 1, 2, … 16, 24, 32, … and the largest: whoever comes between them is captured when it comes. */
function batchSizes(most: number): number[] {
  const exact = Array.from({ length: Math.min(most, exactBatches) }, (_, i) => i + 1);
  const eights = Array.from({ length: Math.max(0, Math.ceil((most - exactBatches) / 8)) }, (_, i) =>
    Math.min(exactBatches + 8 * (i + 1), most),
  );
  return [...exact, ...eights];
}

/** Powers of two times `from`, to the first that is not below `to`. */
function doublings(from: number, to: number): number[] {
  const values = [from];
  for (let value = from; value < to; value *= 2) values.push(value * 2);
  return values;
}

/** Borders that a context ends on: of blocks, and of the chunks of recurrent layers. */
export function contextUnit({ blockSize }: Pick<WarmupLimits, 'blockSize'>): number {
  return Math.max(64, blockSize);
}

/** Launch lists of one decode: layers and head, and of a head that drafts as many for each draft and the first row. */
function graphsPerDecode({ speculative: { method, tokens } }: WarmupLimits): number {
  return method === 'mtp' ? 4 + 2 * tokens : 2;
}

/** Blocks that a shape writes to, of each of its sequences. */
export function ownBlocks(shape: WarmupShape, { blockSize }: Pick<WarmupLimits, 'blockSize'>): number {
  const tokens = shape.kind === 'prompt' ? shape.rows : (decodeRuns + 1) * (1 + shape.drafts);
  return Math.ceil(tokens / blockSize);
}

/** Blocks that it takes: one stands for all that nobody computed. */
function blocksOf(shape: WarmupShape, limits: WarmupLimits): number {
  return shape.batch * ownBlocks(shape, limits) + (shape.context > 0 ? 1 : 0);
}

function distinct(shapes: readonly WarmupShape[]): WarmupShape[] {
  return [...new Map(shapes.map((shape) => [describeShape(shape), shape])).values()];
}

/** For people: `prompt of 2048 behind 129024`, `4 prompts of 511`, `8 x 4 rows behind 3008`. */
export function describeShape(shape: WarmupShape): string {
  const behind = shape.context === 0 ? '' : ` behind ${String(shape.context)}`;
  if (shape.kind === 'prompt') {
    const prompts = shape.batch === 1 ? 'prompt' : `${String(shape.batch)} prompts`;
    return `${prompts} of ${String(shape.rows)}${behind}`;
  }
  const accepted = shape.accepted === 0 ? '' : ` after ${String(shape.accepted)} accepted`;
  return `${String(shape.batch)} x ${String(1 + shape.drafts)} rows${behind}${accepted}`;
}
