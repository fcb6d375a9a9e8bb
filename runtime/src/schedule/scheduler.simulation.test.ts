// A hundred thousand random arrivals over random engines, most of them short of memory. The step model checks every
// plan against the engine's rules, and every block and state against what its readers would have computed themselves.
// In most worlds steps are planned ahead; some of them begin before the one before is postprocessed, some are taken back.

import { describe, expect, test } from '@jest/globals';
import type { NumericalFault, StepResult } from '@llmservice/native';
import { faultOf, withFaults } from './cache-world.fixture.js';
import type { GenerateRequest } from './generation.js';
import { Scheduler, type PlannedStep, type SchedulerLimits } from './scheduler.js';
import { StepModel } from './step-model.fixture.js';
import { expectedTokens } from './token-hashes.fixture.js';
import { randomFrom, request } from './workload.fixture.js';

type Random = (below: number) => number;

const worlds = 40;
const arrivalsPerWorld = 2500;
const longest = 320;

/** Room for little more than the longest sequence in most worlds, for many in some. */
function randomLimits(random: Random): SchedulerLimits {
  const maxNumSeqs = 1 + random(16);
  const blockSize = [16, 16, 32, 64, 128][random(5)]!;
  const hybrid = random(2) === 0;
  const method = (['none', 'ngram', 'mtp'] as const)[random(3)]!;
  const tokens = method === 'none' ? 0 : 1 + random(5);
  return {
    prefixCaching: random(4) > 0,
    hybrid,
    numStateSnapshots: hybrid ? random(12) : 0,
    blockSize,
    numBlocks: Math.ceil(longest / blockSize) + random(random(4) === 0 ? 100 : 2),
    maxNumSeqs,
    maxNumBatchedTokens: maxNumSeqs * (1 + tokens) + 64 + random(300),
    speculative: { method, tokens },
    maxModelLen: longest,
  };
}

/**
 * Prompts from a few pieces, so that many begin alike, some continue alike and some are equal.
 * @param calm many run for long, and many of them stop where nobody expects it
 */
function randomRequest(
  id: string,
  pieces: readonly Int32Array[],
  calm: boolean,
  random: Random,
): GenerateRequest {
  const prompt = new Int32Array(longest);
  let length = 0;
  for (let left = random(20) === 0 ? 4 : 1 + random(2); left > 0; left--) {
    const piece = pieces[random(pieces.length)]!;
    prompt.set(piece, length);
    length += piece.length;
  }
  const stops = Array.from({ length: calm && random(3) === 0 ? 100 : 1 }, () => random(1000));
  const generation = request(id, 1, 1 + random(random(calm ? 3 : 9) === 0 ? 100 : 6), stops);
  const pooling = random(2) === 0 ? 'last' : 'mean';
  return {
    ...(random(16) === 0
      ? { ...generation, pooling, maxTokens: 0 }
      : { ...generation, promptLogprobs: random(16) === 0 }),
    prompt: prompt.slice(0, Math.max(1, length - random(20))),
    boundaries: random(3) === 0 ? [pieces[0]!.length] : [],
    cacheSalt: random(8) === 0 ? 'salt' : null,
    fairnessKey: `key ${random(4)}`,
    priority: random(5) - 2,
    maxQueueMs: random(50) === 0 ? 1 + random(20) : null,
  };
}

/** Of a step without prompts. */
function verifiesDrafts({ plan: { rows } }: PlannedStep): boolean {
  return rows.some((count, i) => i % 2 === 1 && count > 1 && count <= 6);
}

/** A step that runs or has run. */
interface Flight {
  readonly result: StepResult;
}

/** One world from the first arrival to the last answer; its own steps are its clock. */
class Simulation {
  readonly limits: SchedulerLimits;
  readonly scheduler: Scheduler;
  readonly #model: StepModel;
  readonly #random: Random;
  readonly #pieces: Int32Array[];
  readonly #open = new Map<string, { readonly request: GenerateRequest; readonly tokens: number[] }>();
  #arrived = 0;
  ended = 0;
  cancelled = 0;
  expired = 0;
  faulted = 0;
  ahead = 0;
  /** Of them, those that may verify drafts. */
  draftsAhead = 0;
  withdrawn = 0;
  readonly #plansAhead: boolean;
  /** Few come at a time: nothing is planned ahead while somebody waits. */
  readonly #calm: boolean;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    this.#plansAhead = seed % 4 > 0;
    this.#calm = seed % 4 === 1;
    const limits = randomLimits(this.#random);
    // The model's steps take a microsecond, however many rows they have.
    this.limits = { ...limits, promptStepMs: seed % 3 === 0 ? 0.001 : Infinity };
    this.scheduler = new Scheduler(this.limits);
    this.#model = new StepModel(this.limits);
    this.#pieces = Array.from(
      { length: 6 },
      (_, i) => request(`piece ${seed} ${i}`, 5 + this.#random(70), 1).prompt,
    );
  }

  run(): void {
    // Far fewer than this: a workload that never ends is caught here.
    let begun: Flight | null = null;
    for (let now = 0; now < 100 * arrivalsPerWorld; now++) {
      if (begun === null) {
        this.#arrive(now);
        this.#cancelOne();
      }
      for (const id of this.scheduler.expire(now)) this.#close(id, 'expired');
      const flight: Flight | null = begun ?? this.#begin(this.scheduler.plan());
      if (flight === null && this.#arrived === arrivalsPerWorld) return;
      if (flight === null) continue;
      begun = this.#goAhead(now);
      if (this.#random(40) === 0) this.#cancelOne();
      const { sampled, embedded, faulted } = this.scheduler.postprocess(flight.result);
      for (const { id, token, finish } of sampled) {
        this.#open.get(id)!.tokens.push(token);
        if (finish !== null) this.#close(id, 'ended');
      }
      for (const { id } of embedded) this.#close(id, 'ended');
      for (const { id } of faulted) this.#close(id, 'faulted');
      const { blocksUsed } = this.scheduler.stats;
      if (this.#random(20) === 0 && blocksUsed > this.limits.numBlocks)
        throw new Error('more blocks than there are');
    }
    throw new Error(`${this.#open.size} requests never end`);
  }

  #begin(planned: PlannedStep | null): Flight | null {
    if (planned === null) return null;
    const result = this.#model.step(planned.plan);
    const faults = this.#faultsIn(planned);
    for (const { slot } of faults) this.#model.end(slot);
    return { result: withFaults(result, faults) };
  }

  /** The step behind the one in flight, begun before the scheduler has seen its result; null: none, or not any more. */
  #goAhead(now: number): Flight | null {
    const ahead = this.#plansAhead ? this.scheduler.planAhead() : null;
    if (ahead === null) return null;
    this.ahead++;
    if (verifiesDrafts(ahead)) this.draftsAhead++;
    this.#cancelOne();
    this.#arrive(now);
    if (this.#random(this.scheduler.stats.waiting > 0 ? 2 : 4) > 0) return this.#begin(ahead);
    this.scheduler.withdraw();
    this.withdrawn++;
    return null;
  }

  get left(): number {
    return this.#open.size;
  }

  get leftOut(): number {
    return this.#model.leftOut;
  }

  #arrive(now: number): void {
    const wanted =
      this.scheduler.stats.waiting < 60 && this.#random(this.#calm ? 4 : 1) === 0 ? this.#random(3) : 0;
    for (let i = 0; i < wanted && this.#arrived < arrivalsPerWorld; i++) {
      const asked = randomRequest(`r${this.#arrived++}`, this.#pieces, this.#calm, this.#random);
      this.scheduler.add(asked, asked.maxQueueMs === null ? Infinity : now + asked.maxQueueMs);
      this.#open.set(asked.id, { request: asked, tokens: [] });
    }
  }

  /** Sometimes, and then any: one that waits, runs, or was preempted. */
  #cancelOne(): void {
    if (this.#random(15) > 0 || this.#open.size === 0) return;
    const id = [...this.#open.keys()][this.#random(this.#open.size)]!;
    if (!this.scheduler.cancel(id)) throw new Error(`the scheduler does not know ${id}`);
    this.#close(id, 'cancelled');
  }

  /** Sometimes a sequence of the step meets one. */
  #faultsIn({ plan: { rows } }: PlannedStep): NumericalFault[] {
    return this.#random(100) === 0 ? [faultOf(rows[2 * this.#random(rows.length / 2)]!)] : [];
  }

  #close(id: string, how: 'ended' | 'cancelled' | 'expired' | 'faulted'): void {
    const { request: asked, tokens } = this.#open.get(id)!;
    this.#open.delete(id);
    this[how]++;
    const most = Math.min(asked.maxTokens, longest - asked.prompt.length);
    const wanted = expectedTokens(asked.prompt, most, asked.stopTokens);
    const same = how === 'ended' ? wanted : wanted.slice(0, tokens.length);
    if (tokens.join() !== same.join())
      throw new Error(`${id} gave ${tokens.join()}, but must give ${same.join()}`);
    if (how === 'expired' && tokens.length > 0) throw new Error(`${id} expired although it had begun`);
  }
}

describe('Scheduler over 100,000 random arrivals', () => {
  const totals = {
    ended: 0,
    cancelled: 0,
    expired: 0,
    faulted: 0,
    preempted: 0,
    hits: 0,
    drafted: 0,
    accepted: 0,
    ahead: 0,
    draftsAhead: 0,
    withdrawn: 0,
    leftOut: 0,
  };

  test.each(Array.from({ length: worlds }, (_, seed) => seed))(
    'seed %d: every plan keeps the rules, all end with their own tokens, nothing is left',
    (seed) => {
      const simulation = new Simulation(seed);
      simulation.run();
      const { stats } = simulation.scheduler;
      expect(simulation.left).toBe(0);
      expect(stats).toMatchObject({ running: 0, waiting: 0, blocksUsed: 0 });
      expect(stats.blocksCached).toBeLessThanOrEqual(simulation.limits.numBlocks);
      expect(stats.snapshotsKept).toBeLessThanOrEqual(simulation.limits.numStateSnapshots);
      totals.ended += simulation.ended;
      totals.cancelled += simulation.cancelled;
      totals.expired += simulation.expired;
      totals.faulted += simulation.faulted;
      totals.preempted += stats.preemptionsTotal;
      totals.hits += stats.prefixCacheHitsTotal;
      totals.drafted += stats.drafts.draftTokensTotal;
      totals.accepted += stats.drafts.acceptedTokensTotal;
      totals.ahead += simulation.ahead;
      totals.draftsAhead += simulation.draftsAhead;
      totals.withdrawn += simulation.withdrawn;
      totals.leftOut += simulation.leftOut;
    },
  );

  test('together they were what they claim to be', () => {
    expect(totals.ended + totals.cancelled + totals.expired + totals.faulted).toBe(100_000);
    expect(totals.ended).toBeGreaterThan(60_000);
    expect(totals.cancelled).toBeGreaterThan(2_000);
    expect(totals.expired).toBeGreaterThan(100);
    expect(totals.faulted).toBeGreaterThan(300);
    expect(totals.preempted).toBeGreaterThan(1_000);
    expect(totals.hits).toBeGreaterThan(400_000);
    expect(totals.accepted).toBeGreaterThan(10_000);
    expect(totals.drafted - totals.accepted).toBeGreaterThan(10_000);
    expect(totals.ahead).toBeGreaterThan(10_000);
    expect(totals.draftsAhead).toBeGreaterThan(5_000);
    expect(totals.withdrawn).toBeGreaterThan(2_000);
    expect(totals.leftOut).toBeGreaterThan(1_000);
  });
});
