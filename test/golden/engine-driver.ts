// Drives an engine as a scheduler would, in the simplest way that golden tests need: every sequence has a slot and
// its blocks, joins at a given step, is prefilled in chunks of a given size and then decoded.

import { closeSync } from 'node:fs';

import type {
  Admission,
  Engine,
  EngineOptions,
  RankPlace,
  SamplingParams,
  StepPlan,
  StepResult,
} from '@llmservice/native';
import { loadEngine, makeSegment, runRank } from '@llmservice/native';

import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { emptyPlan } from '../../native/ts/step-plan.fixture.js';
import type { GenerateRequest } from '../../runtime/src/schedule/generation.js';
import { greedy as likeliest } from '../../runtime/src/schedule/generate-request.fixture.js';

const slots = 16;
const blockSize = 16;
const blocksPerSlot = 20;

/** What every golden engine has room for. */
export const room = {
  blockSize,
  numBlocks: slots * blocksPerSlot,
  maxNumSeqs: slots,
  numStateSnapshots: 16,
  maxModelLen: blockSize * blocksPerSlot,
  maxNumBatchedTokens: 2048 + slots,
};

export const noDrafts = { method: 'none', tokens: 0 } as const;

/** Greedy, with the logprob of each token. */
export const greedy: SamplingParams = { ...likeliest, topLogprobs: 1 };

/** A sequence to run in slot `slot`. */
export interface Job {
  readonly slot: number;
  readonly prompt: readonly number[];
  /** Tokens generated before a preemption. */
  readonly generated: readonly number[];
  /** Tokens to generate. */
  readonly count: number;
  readonly sampling: SamplingParams;
  /** The step at which it is admitted. */
  readonly joinsAt: number;
  /** Most prompt rows per step; a multiple of 64. */
  readonly chunk: number;
  /** Tokens of the prompt whose blocks an earlier job left in the slot; absent: none. */
  readonly cached?: number;
  /** Number of the adapter that it uses; absent: none. */
  readonly adapter?: number;
}

export interface Generated {
  readonly tokens: number[];
  readonly logprobs: number[];
}

/** Of each prompt token but the first: its logprob, and the likeliest token in its place. */
export interface Scores {
  readonly logprobs: number[];
  readonly best: number[];
}

export type How = Pick<EngineOptions, 'dtype'> & Partial<Omit<EngineOptions, 'modelDir' | 'place'>>;

/** An engine on one rank or several, of one stage or several, each on a thread of this process; disposing it ends them all. */
export async function loadGolden(modelDir: string, how: How, ranks = 1, stages = 1): Promise<Engine> {
  return ranks === 1
    ? loadEngine(optionsOf(modelDir, how, null), () => undefined)
    : loadRanks(modelDir, how, ranks, stages);
}

async function loadRanks(modelDir: string, how: How, size: number, stages: number): Promise<Engine> {
  const segment = makeSegment(size, stages);
  const place = { size, segment, nodes: null, stages: stages === 1 ? null : stages };
  return loadEachRank((rank) => optionsOf(modelDir, how, { rank, ...place }), size, [segment]);
}

/** @param segments of the ranks, which are closed here */
export async function loadEachRank(
  options: (rank: number) => EngineOptions,
  size: number,
  segments: readonly number[],
): Promise<Engine> {
  const others = Promise.all(
    Array.from({ length: size - 1 }, (_, i) => runRank(options(i + 1), () => undefined)),
  );
  // Reported by dispose, or by rank 0, which fails with the others.
  others.catch(() => undefined);
  try {
    const engine = await loadEngine(options(0), () => undefined);
    return {
      info: engine.info,
      step: (plan) => engine.step(plan),
      withdraw: () => engine.withdraw(),
      loadAdapter: (part) => engine.loadAdapter(part),
      unloadAdapter: (number) => engine.unloadAdapter(number),
      offerKv: (offer) => engine.offerKv(offer),
      withdrawKv: (ticket) => engine.withdrawKv(ticket),
      fetchKv: (fetch) => engine.fetchKv(fetch),
      fetchedKv: (id) => engine.fetchedKv(id),
      endFetch: (id) => engine.endFetch(id),
      dispose: async () => {
        await engine.dispose();
        await others;
      },
    };
  } finally {
    segments.forEach((segment) => closeSync(segment));
  }
}

export function optionsOf(modelDir: string, how: How, place: RankPlace | null): EngineOptions {
  return { ...plainOptions, modelDir, ...room, ...how, place };
}

/**
 * Runs the jobs together; the answers stand in the order of the jobs. With `drafts` asked for in every step, all that are
 * held are verified; `onDrafts` gets them, with the number of tokens generated before.
 */
export async function run(
  engine: Engine,
  jobs: readonly Job[],
  drafts = 0,
  onDrafts: (generated: number, drafts: number[]) => void = () => undefined,
): Promise<Generated[]> {
  const running = jobs.map((job) => ({
    job,
    computed: job.cached ?? 0,
    known: job.prompt.length + job.generated.length,
    end: job.prompt.length + job.generated.length + job.count,
    held: 0,
    out: { tokens: [] as number[], logprobs: [] as number[] },
  }));
  const remaining = () => running.filter(({ job, out }) => out.tokens.length < job.count);
  for (let step = 0; remaining().length > 0; step++) {
    const joined = remaining().filter(({ job }) => job.joinsAt <= step);
    const rows = joined.map(
      ({ job, computed, known }) => [job.slot, Math.min(job.chunk, known - computed)] as const,
    );
    const verified = joined.map(({ held, end, known }) => Math.min(held, end - 1 - known));
    const result = await engine.step({
      ...plan(joined.filter(({ job }) => job.joinsAt === step).map(({ job }) => admission(job))),
      rows: Int32Array.from(rows.flatMap(([slot, count], i) => [slot, count + verified[i]!])),
      drafts,
    });
    joined.forEach((entry, i) => (entry.computed += rows[i]![1]));
    result.slots.forEach((slot, i) => {
      const entry = joined.find(({ job }) => job.slot === slot)!;
      entry.out.tokens.push(result.tokens[i]!);
      entry.out.logprobs.push(result.logprobs[i]!);
      entry.known++;
      // All but the newest token have been computed.
      entry.computed = entry.known - 1;
    });
    joined.forEach((entry) => (entry.held = 0));
    for (const [slot, ids] of heldDrafts(result)) {
      const entry = joined.find(({ job }) => job.slot === slot)!;
      entry.held = ids.length;
      onDrafts(entry.out.tokens.length, ids);
    }
  }
  await engine.step({ ...emptyPlan, release: Int32Array.from(jobs, ({ slot }) => slot) });
  return running.map(({ out }) => out);
}

/** The drafts that slots hold after a step. */
function heldDrafts({ drafts }: StepResult): [number, number[]][] {
  const held: [number, number[]][] = [];
  for (let i = 0; i < drafts.length; i += 2 + drafts[i + 1]!) {
    held.push([drafts[i]!, [...drafts.subarray(i + 2, i + 2 + drafts[i + 1]!)]]);
  }
  return held;
}

/** Logprob of each token of `ids` after the first, and the most likely one in its place. */
export async function score(
  engine: Engine,
  ids: readonly number[],
  chunk: number,
  adapter = 0,
): Promise<Scores> {
  const job = { slot: 0, prompt: ids, generated: [], count: 1, sampling: greedy, joinsAt: 0, chunk, adapter };
  const logprobs: number[] = [];
  const best: number[] = [];
  for (let computed = 0; computed < ids.length; computed += chunk) {
    const first = computed === 0 ? [{ ...admission(job), promptLogprobs: true }] : [];
    const rows = Int32Array.of(0, Math.min(chunk, ids.length - computed));
    const { prompt } = await engine.step({ ...plan(first), rows });
    logprobs.push(...prompt.logprobs);
    best.push(...Array.from(prompt.slots, (_, i) => prompt.topTokens[prompt.topOffsets[i]!]!));
  }
  await engine.step({ ...emptyPlan, release: Int32Array.of(0) });
  return { logprobs, best };
}

/** A prompt whose embedding is wanted, in slot `slot`. */
export interface EmbedJob {
  readonly slot: number;
  readonly prompt: readonly number[];
  readonly pooling: 'last' | 'mean' | 'cls';
}

/** Computes the embeddings together, at most `chunk` rows of each per step; the answers stand in the order of the jobs. */
export async function embed(
  engine: Engine,
  jobs: readonly EmbedJob[],
  chunk: number,
): Promise<Float32Array[]> {
  const found = new Map<number, Float32Array>();
  const admit = jobs.map(({ slot, prompt, pooling }) => {
    const job = { slot, prompt, generated: [], count: 0, sampling: likeliest, joinsAt: 0, chunk };
    return { ...admission(job), pooling };
  });
  for (let computed = 0; found.size < jobs.length; computed += chunk) {
    const left = jobs.filter(({ prompt }) => prompt.length > computed);
    const rows = left.flatMap(({ slot, prompt }) => [slot, Math.min(chunk, prompt.length - computed)]);
    const { embeddings } = await engine.step({
      ...plan(computed === 0 ? admit : []),
      rows: Int32Array.from(rows),
    });
    const width = embeddings.values.length / embeddings.slots.length;
    embeddings.slots.forEach((slot, i) =>
      found.set(slot, embeddings.values.slice(i * width, (i + 1) * width)),
    );
  }
  await engine.step({ ...emptyPlan, release: Int32Array.from(jobs, ({ slot }) => slot) });
  return jobs.map(({ slot }) => found.get(slot)!);
}

/** Length of the difference of an embedding, relative to the reference's length. */
export function distance(got: ArrayLike<number>, wanted: readonly number[]): number {
  if (got.length !== wanted.length) throw new RangeError(`${got.length} values in place of ${wanted.length}`);
  const squares = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value * value, 0);
  return Math.sqrt(squares(wanted.map((value, i) => value - got[i]!)) / squares(wanted));
}

/** What one step over the whole prompt gives to a request. */
export async function ask(
  engine: Engine,
  { prompt, maxTokens, sampling, rules, pooling }: GenerateRequest,
): Promise<StepResult> {
  const job = { slot: 0, prompt: [...prompt], generated: [], count: maxTokens, joinsAt: 0, chunk: 512 };
  const asked = { ...admission({ ...job, sampling }), rules, pooling };
  const result = await engine.step({ ...plan([asked]), rows: Int32Array.of(0, prompt.length) });
  await engine.step({ ...emptyPlan, release: Int32Array.of(0) });
  return result;
}

function admission({ slot, prompt, generated, count, sampling, cached = 0, adapter = 0 }: Job): Admission {
  return {
    slot,
    tokens: Int32Array.of(...prompt, ...generated),
    cachedTokens: cached,
    snapshot: null,
    promptLength: prompt.length,
    maxLength: prompt.length + generated.length + count,
    stopTokens: new Int32Array(),
    sampling,
    promptLogprobs: false,
    pooling: 'none',
    constraint: null,
    rules: null,
    adapter,
  };
}

/** A plan that admits, giving each slot the blocks that are its own; no rows. */
function plan(admit: readonly Admission[]): StepPlan {
  const own = (slot: number) =>
    Array.from({ length: blocksPerSlot }, (_, i) => [slot, slot * blocksPerSlot + i]);
  return { ...emptyPlan, admit, blocks: Int32Array.from(admit.flatMap(({ slot }) => own(slot).flat())) };
}
