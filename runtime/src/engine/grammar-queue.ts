// Grammars that requests wait for: each is compiled once for all requests of its key, in turn, as long as one of them
// waits, and kept. What its compilation ends with goes to those requests alone.

import { FailureError, type Failure, type FailureReason } from '@llmservice/crds';
import type { CompiledGrammar, CompileLimits, GrammarKind } from '@llmservice/native';
import type { GrammarText } from '../schedule/generation.js';
import { grammarId, type GrammarCache } from './grammar-cache.js';
import { GrammarTurns, type TurnLimits } from './grammar-turns.js';
import type { CompiledApart, CompileProcesses } from './compile-processes.js';

export interface QueueLimits extends TurnLimits {
  /** For a turn. */
  readonly waitMs: number;
  readonly each: CompileLimits;
}

interface Waiter {
  readonly resolve: (grammar: CompiledGrammar) => void;
  readonly reject: (error: Error) => void;
}

interface Job {
  readonly id: string;
  readonly key: string;
  readonly kind: GrammarKind;
  readonly text: string;
  readonly waiters: Set<Waiter>;
  /** Where it runs; null: it waits for its turn. */
  place: number | null;
  losses: number;
  timer: NodeJS.Timeout | undefined;
}

/** What becomes of a compilation that has ended: it may wait for another turn, as a slow one or not. */
type Next = 'done' | 'again' | 'againSlow';

type Read = (kind: GrammarKind, text: string, file: number, bytes: number) => Promise<CompiledGrammar>;

export class GrammarQueue {
  readonly #processes: Pick<CompileProcesses, 'compile' | 'kill' | 'release'>;
  readonly #read: Read;
  readonly #cache: GrammarCache;
  readonly #limits: QueueLimits;
  readonly #turns: GrammarTurns<Job>;
  readonly #jobs = new Map<string, Job>();
  readonly #free: number[];

  constructor(
    processes: Pick<CompileProcesses, 'compile' | 'kill' | 'release'>,
    read: Read,
    cache: GrammarCache,
    limits: QueueLimits,
  ) {
    this.#processes = processes;
    this.#read = read;
    this.#cache = cache;
    this.#limits = limits;
    this.#turns = new GrammarTurns(limits);
    this.#free = Array.from({ length: limits.atOnce }, (_, place) => place);
  }

  /**
   * @param key keys take turns
   * @param wanted aborted once nobody waits for it: then it ends
   * @throws FailureError GrammarInvalid or QueueTimeout, whose message says why, for the client; EngineFault
   */
  async compile({ kind, text }: GrammarText, key: string, wanted: AbortSignal): Promise<CompiledGrammar> {
    const id = grammarId(kind, text);
    const known = this.#cache.get(id);
    if (known?.kind === 'compiled') return known.grammar;
    if (known !== null) throw new FailureError(known.failure.reason, known.failure.message);
    const job = this.#jobs.get(jobName(id, key)) ?? this.#add(id, key, kind, text);
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject };
      job.waiters.add(waiter);
      wanted.addEventListener('abort', () => this.#leave(job, waiter), { once: true });
      this.#begin();
    });
  }

  #add(id: string, key: string, kind: GrammarKind, text: string): Job {
    const waiters = new Set<Waiter>();
    const job: Job = { id, key, kind, text, waiters, place: null, losses: 0, timer: undefined };
    this.#jobs.set(jobName(id, key), job);
    this.#turns.add(job, key);
    this.#awaitTurn(job);
    return job;
  }

  #awaitTurn(job: Job): void {
    clearTimeout(job.timer);
    job.timer = setTimeout(() => {
      const message = `${asked} waited ${this.#limits.waitMs / 1000} s for others to be compiled`;
      this.#fail(job, { reason: 'QueueTimeout', message });
    }, this.#limits.waitMs);
  }

  #leave(job: Job, waiter: Waiter): void {
    if (!job.waiters.delete(waiter)) return;
    waiter.reject(new Error('nobody waits for the grammar any more'));
    if (job.waiters.size > 0) return;
    this.#settle(job);
    if (job.place !== null) this.#processes.kill(job.place);
    this.#begin();
  }

  #begin(): void {
    for (let job = this.#turns.next(); job !== null; job = this.#turns.next()) {
      // Another key may have asked for it meanwhile.
      const known = this.#cache.get(job.id);
      if (known === null) void this.#run(job);
      else if (known.kind === 'compiled') this.#succeed(job, known.grammar);
      else this.#fail(job, known.failure);
    }
  }

  async #run(job: Job): Promise<void> {
    const place = this.#free.pop();
    if (place === undefined) throw new Error('more grammars have a turn than places');
    job.place = place;
    clearTimeout(job.timer);
    const ended = await this.#processes.compile(place, job.kind, job.text, () => {
      if (!this.#turns.outgrew(job)) this.#processes.kill(place);
    });
    const next = await this.#take(job, ended);
    // Its turn and its place at once: in between others would begin, with a turn and without a place.
    this.#processes.release(place);
    this.#free.push(place);
    job.place = null;
    if (next !== 'done' && this.#isWanted(job)) {
      this.#turns.again(job, next === 'againSlow');
      this.#awaitTurn(job);
    } else this.#turns.remove(job);
    this.#begin();
  }

  /** Settles those who wait for it with what came of it. */
  async #take(job: Job, { end, message, bytes, file }: CompiledApart): Promise<Next> {
    const { cpuSeconds, wallSeconds, memoryBytes } = this.#limits.each;
    const advice = 'make it smaller, with fewer and shorter repetitions';
    switch (end) {
      case 'compiled':
        return this.#hand(job, file, bytes);
      case 'invalid':
        return this.#refuse(job, message);
      case 'overTime':
        return this.#refuse(
          job,
          `${asked} was not compiled in ${cpuSeconds} s of processor time or ${wallSeconds} s in all: ${advice}`,
        );
      case 'starved':
        // Maybe by no fault of its own. Kept all the same: clients try again at once, and each try takes a turn so long.
        return this.#refuse(
          job,
          `${asked} was not compiled: it got too little processor time, less than half of ${cpuSeconds} s in ` +
            `${wallSeconds} s; ${advice}, or raise spec.resources.limits.cpu`,
          'QueueTimeout',
        );
      case 'overMemory':
        return this.#refuse(
          job,
          `${asked} takes more than ${memoryBytes / 2 ** 20} MiB to compile: ${advice}`,
        );
      case 'crashed':
        return this.#refuse(job, `${asked} cannot be compiled: ${message}; ${advice}`);
      case 'lost':
        return this.#retry(job, message);
      case 'killed':
        return 'againSlow';
    }
  }

  async #hand(job: Job, file: number, bytes: number): Promise<Next> {
    try {
      const grammar = await this.#read(job.kind, job.text, file, bytes);
      this.#cache.compiled(job.id, grammar, bytes);
      this.#succeed(job, grammar);
      return 'done';
    } catch (error) {
      return this.#retry(job, (error as Error).message);
    }
  }

  /** Once: what was lost may be what loses its process. */
  #retry(job: Job, why: string): Next {
    if (++job.losses === 1) return 'again';
    this.#fail(job, { reason: 'EngineFault', message: `${asked} was not compiled, twice: ${why}` });
    return 'done';
  }

  #refuse(job: Job, message: string, reason: FailureReason = 'GrammarInvalid'): Next {
    const failure: Failure = { reason, message };
    this.#cache.refused(job.id, failure);
    this.#fail(job, failure);
    return 'done';
  }

  #succeed(job: Job, grammar: CompiledGrammar): void {
    this.#settle(job).forEach(({ resolve }) => resolve(grammar));
  }

  #fail(job: Job, { reason, message }: Failure): void {
    this.#settle(job).forEach(({ reject }) => reject(new FailureError(reason, message)));
  }

  #isWanted(job: Job): boolean {
    return this.#jobs.get(jobName(job.id, job.key)) === job;
  }

  /** Gives those who wait for it. While it runs it keeps its turn. */
  #settle(job: Job): readonly Waiter[] {
    clearTimeout(job.timer);
    if (job.place === null) this.#turns.remove(job);
    if (this.#isWanted(job)) this.#jobs.delete(jobName(job.id, job.key));
    const waiters = [...job.waiters];
    job.waiters.clear();
    return waiters;
  }
}

const asked = "the request's structured output";

const jobName = (id: string, key: string): string => `${id} ${key}`;
