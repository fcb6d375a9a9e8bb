// A shape of a warm-up as step plans: sequences of made-up tokens behind contexts that nobody computed, which are all
// released by the last plan. Pure.

import { greedy, type Admission, type StepPlan } from '@llmservice/native';
import { decodeRuns, ownBlocks, type WarmupLimits, type WarmupShape } from './warmup-shapes.js';

/** Any token does: its row takes as long as another's. */
const token = 1;

/** To be run one after the other, on an engine without sequences. */
export function warmupPlans(shape: WarmupShape, limits: WarmupLimits): StepPlan[] {
  const { begin, slots } = beginSequences(shape, limits);
  const accepted = shape.kind === 'decode' ? shape.accepted : 0;
  const none = new Int32Array();
  const empty: StepPlan = {
    release: none,
    admit: [],
    replace: none,
    blocks: none,
    rows: none,
    saves: none,
    drafts: 0,
    warmup: { acceptedDrafts: accepted },
    ahead: false,
  };
  const end: StepPlan = { ...empty, release: Int32Array.from(slots) };
  // As in service, where a prompt begins in the step that admits it and a decode does not.
  const each = shape.kind === 'prompt' ? shape.rows : 1 + shape.drafts;
  const rows = Int32Array.from(slots.flatMap((slot) => [slot, each]));
  if (shape.kind === 'prompt') return [{ ...empty, ...begin, rows }, end];
  const decode: StepPlan = { ...empty, rows, drafts: shape.drafts };
  return [{ ...empty, ...begin }, ...Array.from({ length: decodeRuns }, () => decode), end];
}

function beginSequences(
  shape: WarmupShape,
  limits: WarmupLimits,
): { begin: Pick<StepPlan, 'admit' | 'blocks'>; slots: number[] } {
  const own = ownBlocks(shape, limits);
  const slots = Array.from({ length: shape.batch }, (_, slot) => slot);
  const blocks = slots.flatMap((slot) => {
    const before = Math.ceil(contextOf(shape, slot) / limits.blockSize);
    // The last block is nobody's own where there is a context.
    const table = Array.from({ length: before + own }, (_, i) =>
      i < before ? limits.numBlocks - 1 : slot * own + i - before,
    );
    return table.flatMap((block) => [slot, block]);
  });
  const admit = slots.map((slot) => admission(slot, contextOf(shape, slot), shape, limits));
  return { begin: { admit, blocks: Int32Array.from(blocks) }, slots };
}

/** One sequence is as long as the shape says: launches ask for the longest alone. */
function contextOf({ context }: WarmupShape, slot: number): number {
  return slot === 0 ? context : 0;
}

function admission(slot: number, cachedTokens: number, shape: WarmupShape, limits: WarmupLimits): Admission {
  const rows = shape.kind === 'prompt' ? shape.rows : 1;
  const known = cachedTokens + rows;
  return {
    slot,
    tokens: new Int32Array(known).fill(token),
    cachedTokens,
    snapshot: null,
    // A decode's own token is generated, so that recurrent layers take it by itself.
    promptLength: shape.kind === 'prompt' || cachedTokens === 0 ? known : cachedTokens,
    maxLength: limits.maxModelLen,
    stopTokens: new Int32Array(),
    sampling: greedy,
    promptLogprobs: false,
    pooling: 'none',
    constraint: null,
    rules: null,
    adapter: 0,
  };
}
