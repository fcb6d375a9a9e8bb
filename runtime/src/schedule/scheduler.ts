// Continuous batching: decides which sequences run which rows in the next step. Pure: no clock, no IO.
// Steps alternate plan() and absorb(). Invariants: a slot has one owner, and a block that is written to has one; rows
// of a step are at most maxNumBatchedTokens; the oldest running sequence always advances, so that all sequences end.

import { finishCodes, type Speculation, type StepPlan, type StepResult } from '@llmservice/native';
import { DraftPolicy } from './draft-policy.js';
import { DraftTotals, type DraftStats } from './draft-totals.js';
import type { Embedded, Faulted, GenerateRequest, Sampled, StepOutputs } from './generation.js';
import { PlanBuilder } from './plan-builder.js';
import { PrefixCache, type PrefixCacheLimits } from './prefix-cache.js';
import { draftsHeld, embeddingAt, sampledAt } from './sampled.js';
import { Sequence, type Running } from './sequence.js';
import { StepCommits } from './step-commits.js';
import { WaitingQueue } from './waiting-queue.js';

/** Room of the engine. */
export interface SchedulerLimits extends PrefixCacheLimits {
  /** Slots. */
  readonly maxNumSeqs: number;
  /** Rows of one step; at least maxNumSeqs x (1 + drafts) + 64, so that prefill advances beside any decodes. */
  readonly maxNumBatchedTokens: number;
  readonly maxModelLen: number;
  readonly speculative: Speculation;
}

/** A step to run. */
export interface PlannedStep {
  readonly plan: StepPlan;
  /** Requests that left the queue for the first time with this step. */
  readonly started: readonly Started[];
}

/** A request that begins to run. */
export interface Started {
  readonly id: string;
  /** Tokens of its prompt that the prefix cache had. */
  readonly cachedTokens: number;
}

/** Figures of the scheduler; totals count from its creation. */
export interface SchedulerStats {
  readonly running: number;
  readonly waiting: number;
  /** Held by running sequences. */
  readonly blocksUsed: number;
  /** Kept for later requests until they are needed. */
  readonly blocksCached: number;
  readonly blocksTotal: number;
  /** Cached blocks that have the recurrent state at their end. */
  readonly snapshotsKept: number;
  readonly preemptionsTotal: number;
  /** Prompt tokens run through the model; what was cached and recomputation after preemption not counted. */
  readonly promptTokensTotal: number;
  readonly generationTokensTotal: number;
  /** Prompt tokens looked up in the prefix cache, and those of them found, by requests that started. */
  readonly prefixCacheQueriesTotal: number;
  readonly prefixCacheHitsTotal: number;
  readonly drafts: DraftStats;
}

/** The scheduler of one engine. */
export class Scheduler {
  readonly #limits: SchedulerLimits;
  readonly #cache: PrefixCache;
  readonly #freeSlots: number[];
  readonly #waiting = new WaitingQueue();
  /** The head of the queue as it was found too large, so that it is looked up again only when more blocks are there. */
  #tooLarge: { readonly sequence: Sequence; readonly available: number } | null = null;
  /** In order of admission: the last is the first to be preempted. */
  #running: Running[] = [];
  readonly #bySlot = new Map<number, Running>();
  #release: number[] = [];
  readonly #commits: StepCommits;
  readonly #policy: DraftPolicy;
  readonly #draftTotals: DraftTotals;
  #inFlight = false;
  #preemptions = 0;
  #promptTokens = 0;
  #generationTokens = 0;
  #queries = 0;
  #hits = 0;

  constructor(limits: SchedulerLimits) {
    this.#limits = limits;
    this.#cache = new PrefixCache(limits);
    this.#commits = new StepCommits(this.#cache, (running) => this.#runs(running));
    this.#policy = new DraftPolicy(limits.speculative);
    this.#draftTotals = new DraftTotals(limits.speculative.tokens);
    this.#freeSlots = Array.from({ length: limits.maxNumSeqs }, (_, i) => limits.maxNumSeqs - 1 - i);
  }

  /**
   * Queues a request.
   * @param expiresAt when it gives up waiting, on the clock of `expire`
   * @throws RangeError when it could never run: an empty prompt, or one longer than the context or the KV cache
   */
  add(request: GenerateRequest, expiresAt = Infinity): void {
    const { maxModelLen, numBlocks } = this.#limits;
    const promptLength = request.prompt.length;
    if (promptLength === 0) throw new RangeError('the prompt has no tokens');
    if (promptLength + Math.min(1, request.maxTokens) > maxModelLen) {
      throw new RangeError(
        `the prompt has ${promptLength} tokens; the context of ${maxModelLen} leaves no room`,
      );
    }
    const sequence = new Sequence(request, maxModelLen);
    const most = this.#blocksFor(sequence.mostComputed);
    if (most > numBlocks) {
      throw new RangeError(`the request may need ${most} KV blocks; the engine has ${numBlocks}`);
    }
    this.#waiting.push(sequence, expiresAt);
  }

  /** Forgets a request, whatever its state; its blocks are free at once. False when there is no such request. */
  cancel(id: string): boolean {
    if (this.#waiting.remove(id)) return true;
    const running = this.#running.find(({ sequence }) => sequence.request.id === id);
    if (running === undefined) return false;
    this.#vacate(running);
    this.#running = this.#running.filter((each) => each !== running);
    return true;
  }

  /** Forgets requests whose time to wait is over; their ids. */
  expire(now: number): string[] {
    return this.#waiting.expire(now).map(({ request }) => request.id);
  }

  /** The next step, or null when there is nothing to compute. */
  plan(): PlannedStep | null {
    if (this.#inFlight) throw new Error('plan() again before absorb(): steps alternate');
    const drafts = this.#policy.next(this.#running.length);
    const step = new PlanBuilder(this.#limits.maxNumBatchedTokens, drafts);
    const preemptionsBefore = this.#preemptions;
    this.#planDecodes(step);
    this.#planPrefills(step);
    // What was preempted needs blocks that are not there: admission waits for the next step.
    const started = this.#preemptions === preemptionsBefore ? this.#planAdmissions(step) : [];
    if (step.isEmpty) return null;
    this.#commits.planReplacements(step);
    const plan = step.build(this.#release);
    this.#release = [];
    this.#inFlight = true;
    return { plan, started };
  }

  /** Takes a step's result; returns what it gave to sequences that are still wanted. */
  absorb(result: StepResult): StepOutputs {
    this.#inFlight = false;
    const { sampled, accepted } = this.#absorbSampled(result);
    // Before anything is committed: nothing that they computed in this step may be reused.
    const faulted = this.#absorbFaults(result);
    this.#commits.commit();
    const ended = new Set(sampled.filter(({ finish }) => finish !== null).map(({ id }) => id));
    this.#absorbDrafts(result, accepted, ended);
    for (const running of accepted.keys()) {
      if (ended.has(running.sequence.request.id)) this.#vacate(running);
    }
    const embedded = this.#absorbEmbeddings(result);
    if (faulted.length + embedded.length + ended.size > 0) {
      this.#running = this.#running.filter((each) => this.#runs(each));
    }
    return { sampled, embedded, faulted };
  }

  #absorbFaults(result: StepResult): Faulted[] {
    return result.faults.flatMap((fault) => {
      const running = this.#bySlot.get(fault.slot);
      if (running === undefined) return [];
      this.#vacate(running, true);
      return [{ id: running.sequence.request.id, fault }];
    });
  }

  #absorbEmbeddings(result: StepResult): Embedded[] {
    const embedded: Embedded[] = [];
    result.embeddings.slots.forEach((slot, index) => {
      const running = this.#bySlot.get(slot);
      if (running === undefined) return;
      this.#vacate(running);
      embedded.push({ id: running.sequence.request.id, embedding: embeddingAt(result, index) });
    });
    return embedded;
  }

  /** Tokens, and by sequence how many of them are accepted drafts. */
  #absorbSampled(result: StepResult): { sampled: Sampled[]; accepted: Map<Running, number> } {
    const sampled: Sampled[] = [];
    const accepted = new Map<Running, number>();
    result.slots.forEach((slot, index) => {
      const running = this.#bySlot.get(slot);
      if (running === undefined || result.finish[index] === finishCodes.numericalFault) return;
      const entry = sampledAt(result, index, running.sequence.request.id);
      running.sequence.generated.push(entry.token);
      this.#generationTokens++;
      // Each token after a step's first is an accepted draft, whose row was computed.
      const before = accepted.get(running);
      if (before !== undefined) running.computed++;
      accepted.set(running, before === undefined ? 0 : before + 1);
      sampled.push(entry);
    });
    return { sampled, accepted };
  }

  #absorbDrafts(
    result: StepResult,
    accepted: ReadonlyMap<Running, number>,
    ended: ReadonlySet<string>,
  ): void {
    for (const [running, count] of accepted) {
      if (running.verifying === 0) continue;
      this.#draftTotals.add(running.verifying, count);
      // The end cuts off what might have been accepted.
      if (!ended.has(running.sequence.request.id)) this.#policy.observe(running.verifying, count);
      running.verifying = 0;
    }
    for (const [slot, count] of draftsHeld(result)) {
      const running = this.#bySlot.get(slot);
      if (running !== undefined) running.drafts = count;
    }
  }

  get stats(): SchedulerStats {
    return {
      running: this.#running.length,
      waiting: this.#waiting.length,
      blocksUsed: this.#cache.usedBlocks,
      blocksCached: this.#cache.cachedBlocks,
      blocksTotal: this.#limits.numBlocks,
      snapshotsKept: this.#cache.snapshotsKept,
      preemptionsTotal: this.#preemptions,
      promptTokensTotal: this.#promptTokens,
      generationTokensTotal: this.#generationTokens,
      prefixCacheQueriesTotal: this.#queries,
      prefixCacheHitsTotal: this.#hits,
      drafts: this.#draftTotals.stats,
    };
  }

  /**
   * One row for each sequence with one token to compute, oldest first; takes blocks from the youngest if need be. Then
   * rows for drafts, in what blocks are left.
   */
  #planDecodes(step: PlanBuilder): void {
    const decoding: Running[] = [];
    // Preemption shortens the list from its end while it is walked.
    for (let i = 0; i < this.#running.length; i++) {
      const running = this.#running[i];
      if (running === undefined || remaining(running) !== 1) continue;
      if (running.blocks.length < this.#blocksFor(running.sequence.length)) {
        // Those that go may share their blocks with older ones; at last it is this one's turn.
        while (this.#cache.available === 0 && this.#runs(running)) this.#preemptYoungest();
        if (!this.#runs(running)) continue;
        this.#takeBlock(step, running);
      }
      decoding.push(running);
    }
    for (const running of decoding) this.#advance(step, running, 1, this.#draftsToVerify(step, running));
  }

  /** Drafts never preempt anybody: they get the blocks that are there. */
  #draftsToVerify(step: PlanBuilder, running: Running): number {
    const { length, maxLength } = running.sequence;
    // The last token is sampled and never computed.
    const wanted = Math.min(running.drafts, maxLength - 1 - length);
    running.drafts = 0;
    if (wanted <= 0) return 0;
    this.#takeSpareBlocks(step, running, length + wanted);
    return Math.min(wanted, running.blocks.length * this.#limits.blockSize - length);
  }

  /** Blocks for `tokens` tokens of a sequence, as far as there are any. */
  #takeSpareBlocks(step: PlanBuilder, running: Running, tokens: number): void {
    const wanted = this.#blocksFor(Math.min(tokens, running.sequence.mostComputed));
    while (running.blocks.length < wanted && this.#cache.available > 0) this.#takeBlock(step, running);
  }

  /** Next chunk of each sequence whose prompt is not computed yet; its blocks were taken at admission. */
  #planPrefills(step: PlanBuilder): void {
    for (const running of this.#running) {
      const left = remaining(running);
      if (left <= 1) continue;
      const count = step.chunk(running.computed, left);
      if (count > 0) this.#advance(step, running, count);
    }
  }

  /** Admits from the front of the queue while slots, blocks for all known tokens, and rows are left. */
  #planAdmissions(step: PlanBuilder): Started[] {
    const started: Started[] = [];
    for (let head = this.#waiting.head; head !== null; head = this.#waiting.head) {
      const slot = this.#freeSlots.at(-1);
      if (slot === undefined || this.#isStillTooLarge(head)) break;
      const match = this.#cache.find(head);
      const count = step.chunk(match.cached, head.length - match.cached);
      const needed = this.#blocksFor(head.length) - match.path.length;
      if (count === 0) break;
      if (needed > this.#cache.availableBeside(match.path)) {
        this.#tooLarge = { sequence: head, available: this.#cache.available };
        break;
      }
      this.#waiting.shift();
      this.#freeSlots.pop();
      const running: Running = {
        sequence: head,
        slot,
        blocks: match.path.map(({ block }) => block),
        path: [...match.path],
        savePlaces: this.#cache.savePlaces(head, match),
        computed: match.cached,
        drafts: 0,
        verifying: 0,
      };
      this.#running.push(running);
      this.#bySlot.set(slot, running);
      step.admit(running, this.#cache.hold(match));
      for (const block of running.blocks) step.append(slot, block);
      for (let i = 0; i < needed; i++) this.#takeBlock(step, running);
      if (!head.started) started.push(this.#start(head, match.cached));
      this.#advance(step, running, count);
    }
    return started;
  }

  #isStillTooLarge(sequence: Sequence): boolean {
    return this.#tooLarge?.sequence === sequence && this.#cache.available <= this.#tooLarge.available;
  }

  #start(sequence: Sequence, cachedTokens: number): Started {
    sequence.started = true;
    sequence.promptCounted = cachedTokens;
    this.#queries += sequence.request.prompt.length;
    this.#hits += cachedTokens;
    return { id: sequence.request.id, cachedTokens };
  }

  #advance(step: PlanBuilder, running: Running, count: number, drafts = 0): void {
    const { sequence, slot } = running;
    step.row(slot, count + drafts);
    running.computed += count;
    running.verifying = drafts;
    // The layer that makes the drafts writes its own cache where they would stand.
    if (this.#limits.speculative.method === 'mtp' && remaining(running) === 0)
      this.#takeSpareBlocks(step, running, sequence.length + drafts + step.drafts);
    this.#commits.advance(step, running);
    const promptDone = Math.min(running.computed, sequence.request.prompt.length);
    this.#promptTokens += Math.max(0, promptDone - sequence.promptCounted);
    sequence.promptCounted = Math.max(sequence.promptCounted, promptDone);
  }

  #takeBlock(step: PlanBuilder, running: Running): void {
    const block = this.#cache.take();
    running.blocks.push(block);
    step.append(running.slot, block);
  }

  /** Back to the front of the queue; its tokens are computed again when there is room. */
  #preemptYoungest(): void {
    const youngest = this.#running.pop();
    if (youngest === undefined) throw new Error('no KV block is free, yet no sequence holds one');
    this.#vacate(youngest);
    this.#waiting.putBack(youngest.sequence);
    this.#preemptions++;
  }

  #vacate(running: Running, spoilt = false): void {
    this.#cache.release(running, spoilt);
    this.#bySlot.delete(running.slot);
    this.#freeSlots.push(running.slot);
    this.#release.push(running.slot);
  }

  /** Whether it still holds its slot. */
  #runs(running: Running): boolean {
    return this.#bySlot.get(running.slot) === running;
  }

  #blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#limits.blockSize);
  }
}

/** Known tokens that are not computed yet. */
function remaining({ sequence, computed }: Running): number {
  return sequence.length - computed;
}
