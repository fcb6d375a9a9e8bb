// Takes in what a step computed: tokens, drafts, embeddings, faults. Sequences that ended leave the batch; of those that
// left while the step ran nothing is taken.

import { finishCodes, type StepResult } from '@llmservice/native';
import type { DraftPolicy } from './draft-policy.js';
import type { Embedded, Faulted, PromptScore, Sampled, Scored, StepOutputs } from './generation.js';
import type { RunningBatch } from './running-batch.js';
import { draftsHeld, embeddingAt, sampledAt, scoreAt } from './sampled.js';
import type { SchedulerTotals } from './scheduler-stats.js';
import type { Running } from './sequence.js';
import type { StepCommits } from './step-commits.js';
import type { WaitingQueue } from './waiting-queue.js';

/** What a result changes. */
interface Parts {
  readonly waiting: WaitingQueue;
  readonly batch: RunningBatch;
  readonly commits: StepCommits;
  readonly policy: DraftPolicy;
  readonly totals: SchedulerTotals;
}

export class StepPostprocessor {
  readonly #waiting: WaitingQueue;
  readonly #batch: RunningBatch;
  readonly #commits: StepCommits;
  readonly #policy: DraftPolicy;
  readonly #totals: SchedulerTotals;

  constructor({ waiting, batch, commits, policy, totals }: Parts) {
    this.#waiting = waiting;
    this.#batch = batch;
    this.#commits = commits;
    this.#policy = policy;
    this.#totals = totals;
  }

  /** What the step gave to sequences that are still wanted. */
  postprocess(result: StepResult): StepOutputs {
    const scored = this.#readScores(result);
    const { sampled, accepted } = this.#readSampled(result);
    // Before anything is committed: nothing that they computed in this step may be reused.
    const faulted = this.#readFaults(result);
    this.#commits.commit();
    const ended = new Set(sampled.filter(({ finish }) => finish !== null).map(({ id }) => id));
    this.#readDrafts(result, accepted, ended);
    for (const running of accepted.keys()) {
      if (ended.has(running.sequence.request.id)) this.#end(running);
    }
    return { scored, sampled, embedded: this.#readEmbeddings(result), faulted };
  }

  #readScores(result: StepResult): Scored[] {
    const scores = new Map<Running, PromptScore[]>();
    result.prompt.slots.forEach((slot, index) => {
      const running = this.#batch.inSlot(slot);
      const position = result.prompt.positions[index] ?? 0;
      // After a preemption in the midst of a prompt, its beginning is scored again.
      if (running === undefined || position <= running.sequence.scored) return;
      const token = running.sequence.request.prompt[position] ?? 0;
      const before = scores.get(running);
      const score = scoreAt(result, index, token);
      if (before === undefined) scores.set(running, [score]);
      else before.push(score);
      running.sequence.scored = position;
    });
    return [...scores].map(([{ sequence }, list]) => ({ id: sequence.request.id, scores: list }));
  }

  /** Tokens, and by sequence how many of them are accepted drafts. */
  #readSampled(result: StepResult): { sampled: Sampled[]; accepted: Map<Running, number> } {
    const sampled: Sampled[] = [];
    const accepted = new Map<Running, number>();
    result.slots.forEach((slot, index) => {
      const running = this.#batch.inSlot(slot);
      if (running === undefined || result.finish[index] === finishCodes.numericalFault) return;
      const before = accepted.get(running);
      const entry = sampledAt(result, index, running.sequence.request.id, before !== undefined);
      running.sequence.generated.push(entry.token);
      this.#totals.generated();
      // Each token after a step's first is an accepted draft, whose row was computed.
      if (before !== undefined) running.computed++;
      accepted.set(running, before === undefined ? 0 : before + 1);
      sampled.push(entry);
    });
    return { sampled, accepted };
  }

  #readFaults(result: StepResult): Faulted[] {
    return result.faults.flatMap((fault) => {
      const running = this.#batch.inSlot(fault.slot);
      if (running === undefined) return [];
      this.#end(running, true);
      return [{ id: running.sequence.request.id, fault }];
    });
  }

  #readDrafts(result: StepResult, accepted: ReadonlyMap<Running, number>, ended: ReadonlySet<string>): void {
    const held = draftsHeld(result);
    for (const [running, count] of accepted) {
      if (running.verifying > 0) {
        this.#totals.drafts.add(running.verifying, count);
        // The end cuts off what might have been accepted.
        if (!ended.has(running.sequence.request.id)) this.#policy.observe(running.verifying, count);
      }
      this.#passOn(running, held.get(running.slot) ?? 0);
    }
  }

  /** The drafts that a sequence holds now are for the step that was planned ahead, or for one that is yet to be planned. */
  #passOn(running: Running, held: number): void {
    const { sequence, verifyingAhead } = running;
    const places = Math.max(0, this.#batch.capacity(running) - sequence.length);
    running.verifying = Math.min(held, verifyingAhead, places);
    running.drafts = verifyingAhead > 0 ? 0 : held;
    running.verifyingAhead = 0;
  }

  #readEmbeddings(result: StepResult): Embedded[] {
    const embedded: Embedded[] = [];
    result.embeddings.slots.forEach((slot, index) => {
      const running = this.#batch.inSlot(slot);
      if (running === undefined) return;
      this.#end(running);
      embedded.push({ id: running.sequence.request.id, embedding: embeddingAt(result, index) });
    });
    return embedded;
  }

  #end(running: Running, spoilt = false): void {
    this.#batch.leave(running, spoilt);
    this.#waiting.settle(running.sequence);
  }
}
