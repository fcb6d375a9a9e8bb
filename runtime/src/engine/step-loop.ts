// The engine process's one loop: plan, run, postprocess, send. At most one message per step leaves it. Where the next step
// can be planned before the one that runs has a result, it waits in the engine for that one's end, so that the device
// need not wait for JavaScript; it is taken back when something comes that should go first.

import type { Failure } from '@llmservice/crds';
import type { CompiledGrammar, Engine, GraphCounts, StepResult } from '@llmservice/native';
import type { Started } from '../schedule/admission-control.js';
import type { GenerateRequest, Sampled, StepOutputs } from '../schedule/generation.js';
import type { PlannedStep, Scheduler } from '../schedule/scheduler.js';
import type { Offers } from '../disaggregation/offers.js';
import { TransferCounts } from '../disaggregation/transfer-counts.js';
import { failureOf } from './failure-of.js';
import { numericalFailure } from './numerical-failure.js';
import { emptyOutput, mergeOutputs } from './output-queue.js';
import type { EngineMessage, EngineStats, SequenceUpdate } from './protocol.js';
import { queueTimeout } from './queue-timeout.js';
import { StepsInFlight } from './steps-in-flight.js';
import { TokenRuns } from './token-runs.js';

/** Milliseconds, monotonic. */
type Clock = () => number;

/** A step that the engine has been asked for. */
interface Flight {
  readonly step: PlannedStep;
  readonly result: Promise<StepResult>;
}

/** Runs until `stop`; rejects when the engine refuses or faults. */
export class StepLoop {
  readonly #engine: Engine;
  readonly #scheduler: Scheduler;
  readonly #send: (message: EngineMessage) => void;
  readonly #now: Clock;
  readonly #transfers: TransferCounts;
  readonly #offers: Pick<Offers, 'open'> | null;
  readonly #submittedAt = new Map<string, number>();
  /** What the last step sampled, and requests that were refused since. */
  #unsent: SequenceUpdate[] = [];
  readonly #runs = new TokenRuns();
  #steps = 0;
  #stepTokens = 0;
  #stepMicros = 0;
  #graphs: GraphCounts = { captured: 0, replayed: 0, direct: 0, refused: 0, bytes: 0 };
  #stepStartedAt: number | null = null;
  /** The step that waits for the end of the one that runs. */
  #ahead: Flight | null = null;
  #sentStats: EngineStats | null = null;
  readonly #inFlight = new StepsInFlight();
  #flush = false;
  #stopped = false;
  #wake: () => void = () => undefined;

  /** @param offers of prompts that are computed for other engines; null: none is */
  constructor(
    engine: Engine,
    scheduler: Scheduler,
    send: (message: EngineMessage) => void,
    now: Clock,
    transfers = new TransferCounts(),
    offers: Pick<Offers, 'open'> | null = null,
  ) {
    this.#engine = engine;
    this.#scheduler = scheduler;
    this.#send = send;
    this.#now = now;
    this.#transfers = transfers;
    this.#offers = offers;
  }

  /** How long the step in flight has run, in milliseconds; null between steps. */
  get stepAgeMs(): number | null {
    return this.#stepStartedAt === null ? null : this.#now() - this.#stepStartedAt;
  }

  /**
   * @param grammar the request's, compiled
   * @param since when it began to wait
   * @param cached tokens of its prompt that nobody had to compute, where another engine computed others
   */
  submit(
    request: GenerateRequest,
    grammar: CompiledGrammar | null,
    since = this.#now(),
    cached = Infinity,
  ): void {
    const expiresAt = request.maxQueueMs === null ? Infinity : since + request.maxQueueMs;
    try {
      this.#scheduler.add(request, expiresAt, grammar, cached);
    } catch (error) {
      this.refuse(request.id, { reason: 'KvCacheTooSmall', message: (error as Error).message });
      return;
    }
    this.#submittedAt.set(request.id, since);
    this.#withdraw();
    this.#wake();
  }

  /** Ends a request that cannot be run. */
  refuse(id: string, failure: Failure): void {
    this.#unsent.push({ ...emptyUpdate(id), failure });
    this.#wake();
  }

  /** At most a decode of it is still computed after the step in flight. */
  cancel(id: string): void {
    // The rows of a decode are less than planning again.
    if (this.#scheduler.leavesRoomAhead(id)) this.#withdraw();
    this.#scheduler.cancel(id);
    this.#forget(id);
    this.#wake();
  }

  /** Empties the prefix cache before the next step. */
  flushCache(): void {
    this.#flush = true;
    this.#withdraw();
    this.#wake();
  }

  /** Resolves once no step is in flight that is now. */
  settled(): Promise<void> {
    return this.#inFlight.settled();
  }

  /** There may be room for somebody who waits. */
  look(): void {
    this.#wake();
  }

  /** The step in flight ends, and so does one that has begun behind it; no other begins. */
  stop(): void {
    this.#stopped = true;
    this.#withdraw();
    this.#wake();
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      this.#expire();
      if (this.#flush) this.#scheduler.flushCache();
      this.#flush = false;
      const step = this.#scheduler.plan();
      if (step === null) {
        this.#sendStep();
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      for (let flight: Flight | null = this.#begin(step); flight !== null; flight = await this.#run(flight));
    }
  }

  #begin(step: PlannedStep): Flight {
    this.#inFlight.began();
    return { step, result: this.#engine.step(step.plan) };
  }

  /** To the end of the step; the one that begins with it. */
  async #run({ step, result: computing }: Flight): Promise<Flight | null> {
    this.#stepStartedAt = this.#now();
    const starts = this.#startsOf(step.started, this.#stepStartedAt);
    for (const id of step.preempted) this.#unsent.push({ ...emptyUpdate(id), preemptions: 1 });
    this.#planAhead();
    // The last step's updates leave while this one computes.
    this.#sendStep();
    const result = await computing;
    this.#inFlight.ended();
    this.#stepStartedAt = null;
    // None where all that it was planned for had ended.
    if (result.rows > 0) this.#steps++;
    this.#stepTokens = result.rows;
    this.#stepMicros += result.computeMicros;
    this.#graphs = result.graphs;
    this.#unsent.push(...this.#updates(this.#scheduler.postprocess(result), starts));
    const next = this.#ahead;
    this.#ahead = null;
    if (next !== null) this.#expire();
    return next;
  }

  #planAhead(): void {
    if (this.#stopped || this.#flush) return;
    const step = this.#scheduler.planAhead();
    if (step === null) return;
    this.#ahead = this.#begin(step);
    // Whoever awaits it hears of it; when it is withdrawn, or the step before it fails, nobody does.
    this.#ahead.result.catch(() => undefined);
  }

  /** Takes the step that waits back, if it still does. */
  #withdraw(): void {
    if (this.#ahead === null || !this.#engine.withdraw()) return;
    this.#scheduler.withdraw();
    this.#ahead = null;
    this.#inFlight.withdrawn();
  }

  /** Requests that waited too long fail with QueueTimeout. */
  #expire(): void {
    const now = this.#now();
    for (const id of this.#scheduler.expire(now)) {
      const waitedMs = Math.round(now - (this.#submittedAt.get(id) ?? now));
      this.#submittedAt.delete(id);
      this.#unsent.push({ ...emptyUpdate(id), failure: queueTimeout(waitedMs) });
    }
  }

  #startsOf(started: readonly Started[], at: number): Map<string, Start> {
    return new Map(
      started.map(({ id, cachedTokens }) => [
        id,
        { queueMs: at - (this.#submittedAt.get(id) ?? at), cachedTokens },
      ]),
    );
  }

  #updates(outputs: StepOutputs, starts: ReadonlyMap<string, Start>): SequenceUpdate[] {
    const updates = new Map<string, SequenceUpdate>();
    for (const [id, start] of starts) updates.set(id, { ...emptyUpdate(id), ...start });
    const add = (update: SequenceUpdate): void => {
      if (update.finish !== null || update.failure !== null) this.#forget(update.id);
      const before = updates.get(update.id) ?? emptyUpdate(update.id);
      updates.set(update.id, { ...update, ...mergeOutputs(before, update) });
    };
    for (const { id, scores } of outputs.scored) add({ ...emptyUpdate(id), promptScores: scores });
    for (const entry of outputs.sampled) {
      this.#runs.add(entry.id, entry.token);
      add(updateOf(entry));
    }
    for (const { id, embedding } of outputs.embedded) add({ ...emptyUpdate(id), embedding, finish: 'stop' });
    for (const { id, fault } of outputs.faulted)
      add({ ...emptyUpdate(id), failure: numericalFailure(fault) });
    return [...updates.values()].filter((update) => !this.#offer(update));
  }

  /** Of a prompt that was computed for another engine the end waits until that can read it. */
  #offer(update: SequenceUpdate): boolean {
    const offering = update.finish === null ? null : (this.#offers?.open(update.id) ?? null);
    if (offering === null) return false;
    const end = (last: SequenceUpdate): void => {
      this.#unsent.push(last);
      this.#wake();
    };
    offering.then(
      (offered) => end({ ...update, offered }),
      (error: unknown) => end({ ...emptyUpdate(update.id), failure: failureOf(error) }),
    );
    return true;
  }

  #forget(id: string): void {
    this.#submittedAt.delete(id);
    this.#runs.forget(id);
  }

  /** Silent when nothing has changed since the last message. */
  #sendStep(): void {
    const stats = this.#scheduler.stats;
    const updates = this.#unsent;
    const sent = this.#sentStats;
    const same =
      sent !== null &&
      sent.running === stats.running &&
      sent.waiting === stats.waiting &&
      sent.blocksUsed === stats.blocksUsed &&
      sent.blocksCached === stats.blocksCached &&
      sent.stepsTotal === this.#steps;
    if (updates.length === 0 && same) return;
    this.#unsent = [];
    this.#sentStats = {
      ...stats,
      stepsTotal: this.#steps,
      stepTokens: this.#stepTokens,
      stepMicrosTotal: this.#stepMicros,
      repeatedTokenRunsTotal: this.#runs.total,
      graphs: this.#graphs,
      transfers: this.#transfers.stats,
    };
    this.#send({ type: 'step', updates, stats: this.#sentStats });
  }
}

/** What the first output says of a request's start. */
type Start = Pick<SequenceUpdate, 'queueMs' | 'cachedTokens'>;

function emptyUpdate(id: string): SequenceUpdate {
  return { id, ...emptyOutput, failure: null };
}

function updateOf({ id, token, isDraft, logprobs, finish }: Sampled): SequenceUpdate {
  const empty = { ...emptyUpdate(id), acceptedDrafts: isDraft ? 1 : 0 };
  if (finish === 'stop') return { ...empty, finish, stopToken: token, stopLogprobs: logprobs };
  return { ...empty, tokens: [token], logprobs: logprobs === null ? null : [logprobs], finish };
}
