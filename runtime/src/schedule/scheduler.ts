// Continuous batching: takes requests, and plans the engine's steps for them. Pure: no clock, no IO. Each step is planned
// and then postprocessed; one more may be planned ahead, before the step in flight is postprocessed. Invariants: a slot has one
// owner, and a block that is written to has one; rows of a step are at most maxNumBatchedTokens; the oldest running
// sequence always advances, so that all sequences end.

import type { CompiledGrammar, StepPlan, StepResult } from '@llmservice/native';
import { AdmissionControl } from './admission-control.js';
import { DraftPolicy } from './draft-policy.js';
import type { GenerateRequest, StepOutputs } from './generation.js';
import { PrefixCache, type PrefixCacheLimits } from './prefix-cache.js';
import { PromptPace } from './prompt-pace.js';
import { PromptShare } from './prompt-share.js';
import { RunningBatch } from './running-batch.js';
import { SchedulerTotals, type SchedulerStats } from './scheduler-stats.js';
import { Sequence } from './sequence.js';
import { StepPostprocessor } from './step-postprocessor.js';
import { StepCommits } from './step-commits.js';
import { StepPlanner, type PlannedStep, type StepLimits } from './step-planner.js';
import { WaitingQueue } from './waiting-queue.js';

export type { PlannedStep, SchedulerStats };

/** Room of the engine. */
export interface SchedulerLimits extends PrefixCacheLimits, StepLimits {
  /** Slots. */
  readonly maxNumSeqs: number;
  readonly maxModelLen: number;
  /** About how long prompts may make a step, in milliseconds; absent: as long as they do. */
  readonly promptStepMs?: number;
}

/** The scheduler of one engine. */
export class Scheduler {
  /** Prompts that other engines compute, or have computed here. */
  readonly prompts: PromptShare;
  readonly #limits: SchedulerLimits;
  readonly #cache: PrefixCache;
  readonly #waiting = new WaitingQueue();
  readonly #batch: RunningBatch;
  readonly #policy: DraftPolicy;
  readonly #totals: SchedulerTotals;
  readonly #pace: PromptPace;
  readonly #planner: StepPlanner;
  readonly #postprocessor: StepPostprocessor;
  /** Steps that are planned and not postprocessed. */
  readonly #inFlight: StepPlan[] = [];

  constructor(limits: SchedulerLimits) {
    const waiting = this.#waiting;
    const cache = new PrefixCache(limits);
    const batch = new RunningBatch(limits.maxNumSeqs, limits.blockSize, cache);
    const totals = new SchedulerTotals(limits.speculative.tokens);
    const commits = new StepCommits(cache, batch);
    const admission = new AdmissionControl(waiting, batch, cache, totals, limits.numBlocks);
    this.prompts = new PromptShare(cache, limits, batch);
    this.#limits = limits;
    this.#cache = cache;
    this.#batch = batch;
    this.#totals = totals;
    this.#pace = new PromptPace(limits.promptStepMs ?? Infinity);
    this.#policy = new DraftPolicy(limits.speculative);
    this.#planner = new StepPlanner(limits, {
      ...{ waiting, admission, batch, cache, commits, totals },
      pace: this.#pace,
    });
    this.#postprocessor = new StepPostprocessor({ waiting, batch, commits, policy: this.#policy, totals });
  }

  /**
   * Queues a request.
   * @param expiresAt when it gives up waiting, on the clock of `expire`
   * @param grammar the request's, compiled
   * @param cached tokens of its prompt that nobody had to compute, where another engine computed others
   * @throws RangeError when it could never run: an empty prompt, or one longer than the context or the KV cache
   */
  add(
    request: GenerateRequest,
    expiresAt = Infinity,
    grammar: CompiledGrammar | null = null,
    cached = Infinity,
  ): void {
    const { maxModelLen, numBlocks, bidirectional, maxNumBatchedTokens } = this.#limits;
    const promptLength = request.prompt.length;
    if (promptLength === 0) throw new RangeError('the prompt has no tokens');
    if (promptLength + Math.min(1, request.maxTokens) > maxModelLen) {
      throw new RangeError(
        `the prompt has ${promptLength} tokens; the context of ${maxModelLen} leaves no room`,
      );
    }
    if (bidirectional === true && promptLength > maxNumBatchedTokens) {
      throw new RangeError(`the prompt has ${promptLength} tokens; a step has ${maxNumBatchedTokens} rows`);
    }
    const sequence = new Sequence(request, maxModelLen, grammar, cached);
    const most = this.#batch.blocksFor(sequence.maxComputed);
    if (most > numBlocks) {
      throw new RangeError(`the request may need ${most} KV blocks; the engine has ${numBlocks}`);
    }
    this.#waiting.push(sequence, expiresAt);
  }

  /** Forgets a request, whatever its state; its blocks are free at once. False when there is no such request. */
  cancel(id: string): boolean {
    if (this.#waiting.remove(id)) return true;
    const running = this.#batch.find(id);
    if (running === undefined) return false;
    this.#batch.leave(running);
    this.#waiting.settle(running.sequence);
    return true;
  }

  /**
   * Whether a request that is cancelled leaves room in the step that is planned ahead: its slot, for somebody who waits, or
   * more rows than a decode and its drafts have.
   */
  leavesRoomAhead(id: string): boolean {
    const [, ahead] = this.#inFlight;
    const slot = this.#batch.find(id)?.slot;
    if (ahead === undefined || slot === undefined) return false;
    if (this.#waiting.length > 0) return true;
    for (let i = 0; i < ahead.rows.length; i += 2)
      if (ahead.rows[i] === slot) return (ahead.rows[i + 1] ?? 0) > 1 + this.#limits.speculative.tokens;
    return false;
  }

  /** Empties the prefix cache. Not while a step is in flight that reads from it: between `postprocess` and `plan`. */
  flushCache(): void {
    if (this.#inFlight.length > 0) throw new Error('flushCache() while a step is in flight');
    this.#cache.flush();
  }

  /** Forgets requests whose time to wait is over; their ids. */
  expire(now: number): string[] {
    return this.#waiting.expire(now).map(({ request }) => request.id);
  }

  /** The next step, or null when there is nothing to compute. */
  plan(): PlannedStep | null {
    if (this.#inFlight.length > 0) throw new Error('plan() before the step in flight was postprocessed');
    return this.#begin(this.#planner.plan(this.#policy.next(this.#batch.length)));
  }

  /**
   * The step after the one in flight, to be run right behind it. Sequences that turn out to have ended have no part in
   * it, and each verifies as many drafts as it turns out to hold. Nobody begins with it, and none is preempted: where that
   * would be called for it is null, but for whoever waits for a slot that a token nobody knows may free.
   */
  planAhead(): PlannedStep | null {
    const [first, second] = this.#inFlight;
    if (first === undefined || second !== undefined) return null;
    const step = this.#planner.planAhead(first.drafts, this.#policy.next(this.#batch.length));
    if (step === null) this.#policy.takeBack();
    return this.#begin(step);
  }

  /** The step that was planned ahead does not run, and the one before it is still in flight. */
  withdraw(): void {
    const [, ahead] = this.#inFlight;
    if (ahead === undefined) throw new Error('no step was planned ahead');
    this.#inFlight.pop();
    this.#policy.takeBack();
    this.#planner.withdraw(ahead);
  }

  /** Takes the result of the first step in flight; returns what it gave to sequences that are still wanted. */
  postprocess(result: StepResult): StepOutputs {
    this.#inFlight.shift();
    this.#pace.observe(result.rows, result.computeMicros);
    return this.#postprocessor.postprocess(result);
  }

  #begin(step: PlannedStep | null): PlannedStep | null {
    if (step !== null) this.#inFlight.push(step.plan);
    return step;
  }

  get stats(): SchedulerStats {
    return {
      running: this.#batch.length,
      waiting: this.#waiting.length,
      blocksUsed: this.#cache.usedBlocks,
      blocksCached: this.#cache.cachedBlocks,
      blocksTotal: this.#limits.numBlocks,
      snapshotsKept: this.#cache.snapshotsKept,
      ...this.#totals.figures,
    };
  }
}
