// Decides which sequences run which rows in the next step: first all that decode, then chunks of prompts under way and
// new sequences, and with each what drafts and blocks there is room for. Prompts get as many rows as the pace allows, so that
// nobody waits long for the step's end; one that takes several steps leaves half of
// them to shorter ones, so that none waits for its end. Where decodes lack blocks, the youngest go back
// to the queue; so the oldest running sequence always advances, and all sequences end. The step after the one in flight
// can be planned too: a sequence that decodes computes the last token that it is then found to have, in blocks for as many
// as it may be given, and as many drafts as it is then found to hold.

import { draftsByLayer } from '@llmservice/checkpoint';
import type { Speculation, StepPlan } from '@llmservice/native';
import type { AdmissionControl, Started } from './admission-control.js';
import { chunkMultiple, PlanBuilder } from './plan-builder.js';
import type { PrefixCache } from './prefix-cache.js';
import type { PromptPace } from './prompt-pace.js';
import type { RunningBatch } from './running-batch.js';
import type { SchedulerTotals } from './scheduler-stats.js';
import type { Running } from './sequence.js';
import type { StepCommits } from './step-commits.js';
import type { WaitingQueue } from './waiting-queue.js';

/** What a step may have. */
export interface StepLimits {
  /** Rows of one step; at least maxNumSeqs x (1 + drafts) + 64, so that prefill advances alongside any decodes. */
  readonly maxNumBatchedTokens: number;
  readonly speculative: Speculation;
  /** A sequence is computed whole, in one step; absent: it may be divided. */
  readonly bidirectional?: boolean;
}

/** A step to run. */
export interface PlannedStep {
  readonly plan: StepPlan;
  /** Requests that left the queue for the first time with this step. */
  readonly started: readonly Started[];
  /** Ids of those that lost their room to it. */
  readonly preempted: readonly string[];
}

/** What a step is planned from. */
interface Parts {
  readonly waiting: WaitingQueue;
  readonly admission: AdmissionControl;
  readonly batch: RunningBatch;
  readonly cache: PrefixCache;
  readonly commits: StepCommits;
  readonly totals: SchedulerTotals;
  readonly pace: PromptPace;
}

export class StepPlanner {
  readonly #limits: StepLimits;
  readonly #waiting: WaitingQueue;
  readonly #admission: AdmissionControl;
  readonly #batch: RunningBatch;
  readonly #cache: PrefixCache;
  readonly #commits: StepCommits;
  readonly #totals: SchedulerTotals;
  readonly #pace: PromptPace;

  constructor(limits: StepLimits, { waiting, admission, batch, cache, commits, totals, pace }: Parts) {
    this.#limits = limits;
    this.#waiting = waiting;
    this.#admission = admission;
    this.#batch = batch;
    this.#cache = cache;
    this.#commits = commits;
    this.#totals = totals;
    this.#pace = pace;
  }

  /**
   * The next step, or null when there is nothing to compute.
   * @param drafts to make at most for each sequence that decodes
   */
  plan(drafts: number): PlannedStep | null {
    const step = this.#begin(drafts, null);
    const preempted = this.#planDecodes(step);
    // What was preempted needs blocks that are not there: admission waits for the next step.
    const started = this.#planPrompts(step, preempted.length === 0);
    return this.#finish(step, started, preempted);
  }

  /**
   * The step after the one in flight. Null where nothing is sure to be left to compute; where somebody waits who may
   * come in with it; and where somebody would have to be preempted, and lose the token that is on its way.
   * @param held drafts that each sequence holds at most after the one in flight
   * @param drafts as for `plan`
   */
  planAhead(held: number, drafts: number): PlannedStep | null {
    if (this.#mayAdmit() || !this.#hasBlocksForDecodes()) return null;
    const step = this.#begin(drafts, held);
    this.#planDecodes(step);
    this.#planPrompts(step, false);
    return this.#finish(step, [], []);
  }

  /** The step that was planned ahead does not run. Nobody has come in since, so that slots are whose they were. */
  withdraw({ release, blocks }: StepPlan): void {
    this.#commits.withdraw();
    for (let i = blocks.length - 2; i >= 0; i -= 2) {
      const running = this.#batch.inSlot(blocks[i] ?? NaN);
      // The blocks of one that left went with it.
      if (running !== undefined) this.#batch.giveBackBlock(running);
    }
    this.#batch.putBackReleased(release);
  }

  #begin(drafts: number, held: number | null): PlanBuilder {
    const { maxNumBatchedTokens, bidirectional } = this.#limits;
    return new PlanBuilder(maxNumBatchedTokens, drafts, held, bidirectional !== true);
  }

  #finish(step: PlanBuilder, started: readonly Started[], preempted: readonly string[]): PlannedStep | null {
    if (step.isEmpty) return null;
    this.#commits.begin(step);
    return { plan: step.build(this.#batch.takeReleased()), started, preempted };
  }

  /**
   * Whether somebody who waits may find room once the step in flight has reported who ends. Who ends with a token that
   * nobody knows yet does not count: then a slot is free for a step, which costs less than all steps' waiting for plans.
   */
  #mayAdmit(): boolean {
    if (this.#waiting.length === 0) return false;
    return !this.#batch.isFull || [...this.#batch].some(mayEndByLength);
  }

  #hasBlocksForDecodes(): boolean {
    let wanted = 0;
    for (const running of this.#batch) if (decodes(running)) wanted += this.#blocksLacking(running);
    return wanted <= this.#cache.available;
  }

  /** For its next row, wherever drafts in flight may take it. */
  #blocksLacking(running: Running): number {
    const { computed, verifying, blocks, sequence } = running;
    const end = Math.min(computed + verifying + 1, sequence.maxComputed);
    return Math.max(0, this.#batch.blocksFor(end) - blocks.length);
  }

  /**
   * One row for each sequence with one token to compute, oldest first; takes blocks from the youngest if need be. Then
   * rows for drafts, in what blocks are left. Returns whom it preempted.
   */
  #planDecodes(step: PlanBuilder): string[] {
    const decoding: Running[] = [];
    const preempted: string[] = [];
    for (const running of this.#batch) {
      if (!decodes(running)) continue;
      while (this.#batch.holds(running) && this.#blocksLacking(running) > 0) {
        // Those that go may share their blocks with older ones; at last it is this one's turn.
        if (this.#cache.available === 0) preempted.push(this.#preemptYoungest());
        else this.#batch.takeBlock(step, running);
      }
      if (this.#batch.holds(running)) decoding.push(running);
    }
    for (const running of decoding) this.#advance(step, running, 1, this.#draftsToVerify(step, running));
    return preempted;
  }

  /** Drafts never preempt anybody: they get the blocks that are there. */
  #draftsToVerify(step: PlanBuilder, running: Running): number {
    // With the one that the step in flight is sure to give; what drafts in flight give takes of the room.
    const known = running.computed + 1;
    // The last token is sampled and never computed.
    const wanted = Math.min(step.held ?? running.drafts, running.sequence.maxLength - 1 - known);
    running.drafts = 0;
    if (wanted <= 0) return 0;
    this.#batch.takeSpareBlocks(step, running, known + running.verifying + wanted);
    return Math.min(wanted, this.#batch.capacity(running) - known);
  }

  /** Chunks of prompts: of those that can end with this step, of new sequences, and of long ones. Returns who began. */
  #planPrompts(step: PlanBuilder, admits: boolean): Started[] {
    step.limitPrompts(this.#pace.rows);
    const prompts = [...this.#batch].filter((running) => remaining(running) > 1);
    const isLong = new Set(prompts.filter((running) => !step.hasRoomFor(remaining(running))));
    // Even of few rows the oldest of the long ones gets some, so that it comes to its end.
    if (isLong.size > 0) step.withhold(Math.max(chunkMultiple, Math.floor(step.left / 2)));
    for (const running of prompts) if (!isLong.has(running)) this.#planChunk(step, running);
    const started = admits ? this.#planAdmissions(step) : [];
    step.withhold(0);
    for (const running of isLong) this.#planChunk(step, running);
    return started;
  }

  /** Of a prompt that is not computed yet; its blocks were taken at admission. */
  #planChunk(step: PlanBuilder, running: Running): void {
    const count = step.chunk(running.computed, remaining(running));
    if (count > 0) this.#advance(step, running, count);
  }

  /** First chunks of sequences from the front of the queue. */
  #planAdmissions(step: PlanBuilder): Started[] {
    const all: Started[] = [];
    for (;;) {
      const admitted = this.#admission.next(step);
      if (admitted === null) return all;
      const { running, rows, started } = admitted;
      if (started !== null) all.push(started);
      this.#advance(step, running, rows);
    }
  }

  #advance(step: PlanBuilder, running: Running, count: number, drafts = 0): void {
    step.row(running.slot, count + drafts);
    running.computed += count;
    // A layer that makes the drafts writes its own cache where they would stand.
    if (draftsByLayer(this.#limits.speculative) && remaining(running) <= 0)
      this.#batch.takeSpareBlocks(step, running, running.computed + running.verifying + drafts + step.drafts);
    if (step.held === null) running.verifying = drafts;
    else running.verifyingAhead = drafts;
    this.#commits.advance(step, running, count);
  }

  /** Back to the front of the queue; its tokens are computed again when there is room. Returns its id. */
  #preemptYoungest(): string {
    const { youngest } = this.#batch;
    if (youngest === null) throw new Error('no KV block is free, yet no sequence holds one');
    this.#batch.leave(youngest);
    this.#waiting.putBack(youngest.sequence);
    this.#totals.preempted();
    return youngest.sequence.request.id;
  }
}

/** Whether it is due one row: of its last known token, or of the token that the step in flight gives it. */
function decodes(running: Running): boolean {
  return remaining(running) <= 1 && running.computed < running.sequence.maxComputed;
}

/** Whether the step in flight may give it its last token, or compute all that is pooled. */
function mayEndByLength({ sequence, computed, verifying }: Running): boolean {
  return computed + verifying >= sequence.maxComputed;
}

/** Known tokens that no planned step computes; less than one where the next token is still on its way. */
function remaining({ sequence, computed }: Running): number {
  return sequence.length - computed;
}
