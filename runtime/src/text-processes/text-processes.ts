// Long encodings and renderings of a model, each in a process that may die of it: of time, of memory, of an error that its
// library cannot survive, or because its client left. One task at a time in each, so that no task harms another; one
// process more than work needs is kept ready, so that the next task does not wait for a start.

import { backoffMs, FailureError } from '@llmservice/crds';
import type { Logger } from '../log/logger.js';
import type { ChatTemplateInput, ChatTemplateSource } from '../tokens/chat-template.js';
import { TextChild, TextProcessEnded } from './text-child.js';
import { TextLauncher } from './text-launcher.js';
import type { TextReply, TextTask } from './protocol.js';
import { maxProcesses } from './text-room.js';
import { TextRefusal } from '../tokens/text-refusal.js';

/** A text of so many characters is long. */
const longChars = 262_144;
/** Longest that a task waits for others: it is no fault of its own. */
const waitMs = 60_000;
const startBackoff = { firstMs: 100, maxMs: 10_000 };
/** After so many in a row that failed, and with no process left, what waits fails. */
const maxFailedStarts = 3;
/** To read a tokenizer of 20 MB and to try it takes some seconds. */
const startMs = 120_000;
/** Limits of a processor's time. A thousand messages take a tenth of a second: a template that needs longer does not end. */
const renderMs = 5000;
/** Tokenizers read a million characters a second, some texts at a tenth of that. */
const encodeMs = (chars: number): number => Math.min(60_000, 10_000 + chars / 250);

/** Short texts may take all processes; the others leave one to those that are not like them. */
type Lane = 'short' | 'long' | 'render';

interface WaitingTask {
  readonly task: TextTask;
  readonly lane: Lane;
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (reply: TextReply) => void;
  readonly reject: (error: Error) => void;
}

export interface TextProcessesOptions {
  readonly tokenizerJson: string;
  /** What errors call it. */
  readonly tokenizerName: string;
  /** Null: the checkpoint has none. */
  readonly template: ChatTemplateSource | null;
  /** Memory for the work of each process. */
  readonly roomMb: number;
  readonly logger: Logger;
}

export class TextProcesses {
  readonly #options: TextProcessesOptions;
  readonly #launcher: TextLauncher;
  readonly #children = new Set<TextChild>();
  readonly #free = new Set<TextChild>();
  /** Of what each works at. */
  readonly #lanes = new Map<TextChild, Lane>();
  readonly #starting = new Set<TextChild>();
  readonly #waiting = new Set<WaitingTask>();
  #failedStarts = 0;
  #backOff: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** Of the first process: what came of it. */
  #first: ((failure: FailureError | null) => void) | null = null;

  private constructor(options: TextProcessesOptions) {
    this.#options = options;
    const { tokenizerJson, template, roomMb } = options;
    this.#launcher = new TextLauncher({ tokenizerJson: Buffer.from(tokenizerJson), template, roomMb });
  }

  /**
   * Resolves once one process has read the tokenizer.
   * @throws FailureError TokenizerInvalid: it ends the process that reads it, or does not get through simple texts;
   *   EngineFault: no process can be started
   */
  static async start(options: TextProcessesOptions): Promise<TextProcesses> {
    const processes = new TextProcesses(options);
    const failure = await processes.#startFirst();
    if (failure === null) return processes;
    await processes.close();
    throw failure;
  }

  /** Process ids, for tests. */
  get pids(): readonly number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  /**
   * Token ids of a text.
   * @throws TextRefusal: the tokenizer does not get through it
   * @throws FailureError QueueTimeout: others took too long; EngineFault: no process can be started, or it was killed
   */
  async encode(text: string, addSpecialTokens: boolean, signal?: AbortSignal): Promise<Int32Array> {
    const limitMs = encodeMs(text.length);
    const task = { kind: 'encode', text, addSpecialTokens } as const;
    const lane = text.length > longChars ? 'long' : 'short';
    const reply = await this.#run(task, lane, limitMs, signal).catch((error: unknown) => {
      throw error instanceof TextProcessEnded ? this.#refused(error, 'to be tokenized', limitMs) : error;
    });
    // A view of the message until then.
    if (reply.kind === 'ids') return reply.ids.slice();
    throw new TextRefusal('message' in reply ? reply.message : 'the tokenizer gave no ids');
  }

  /**
   * The prompt of a conversation.
   * @returns `refused` with the template's own message, or because it took too long or too much memory
   * @throws FailureError as `encode`
   */
  async render(
    input: ChatTemplateInput,
    signal?: AbortSignal,
  ): Promise<Exclude<TextReply, { readonly kind: 'ids' }>> {
    const reply = await this.#run({ kind: 'render', input }, 'render', renderMs, signal).catch(
      (error: unknown): TextReply => {
        if (!(error instanceof TextProcessEnded)) throw error;
        const refusal = this.#refused(error, 'to be rendered', renderMs);
        if (!(refusal instanceof TextRefusal)) throw refusal;
        return { kind: 'refused', message: refusal.message };
      },
    );
    return reply.kind === 'ids' ? { kind: 'failed', message: 'the template gave no text' } : reply;
  }

  /** Ends the processes; what they work at fails, and what waits for them. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#backOff !== null) clearTimeout(this.#backOff);
    const closed = new FailureError('EngineFault', 'the model is being unloaded');
    for (const { reject } of this.#waiting) reject(closed);
    await Promise.all([...this.#children].map((child) => child.end()));
    await this.#launcher.close();
  }

  #refused({ why, message }: TextProcessEnded, what: string, limitMs: number): Error {
    switch (why) {
      case 'time':
        return new TextRefusal(
          `it takes more than ${String(Math.round(limitMs / 1000))} s of a processor ${what}`,
        );
      case 'memory':
        return new TextRefusal(`it takes more than ${String(this.#options.roomMb)} MB of memory ${what}`);
      case 'fault':
        return new TextRefusal(`it ended the process that it was in ${what}`);
      case 'outside':
      case 'unneeded':
      case 'unstarted':
        return new FailureError('EngineFault', message);
    }
  }

  #run(task: TextTask, lane: Lane, limitMs: number, signal: AbortSignal | undefined): Promise<TextReply> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#isClosed) throw new FailureError('EngineFault', 'the model is being unloaded');
      const waited = setTimeout(() => waiting.reject(queueTimeout()), waitMs);
      const left = (): void => waiting.reject(signal?.reason as Error);
      const settled = (): void => {
        clearTimeout(waited);
        signal?.removeEventListener('abort', left);
        this.#waiting.delete(waiting);
      };
      const waiting: WaitingTask = {
        task,
        lane,
        limitMs,
        signal,
        // Of a process that has begun: from there on it watches the signal.
        resolve: (reply) => resolve(reply),
        reject: (error) => {
          settled();
          reject(error);
        },
      };
      signal?.addEventListener('abort', left, { once: true });
      this.#begins.set(waiting, settled);
      this.#waiting.add(waiting);
      this.#assign();
    });
  }

  readonly #begins = new WeakMap<WaitingTask, () => void>();

  /** Gives free processes what waits, and keeps one more ready. */
  #assign(): void {
    for (const child of this.#free) {
      const next = this.#next();
      if (next === null) break;
      this.#free.delete(child);
      this.#lanes.set(child, next.lane);
      this.#begins.get(next)?.();
      child.run(next.task, next.limitMs, next.signal).then(next.resolve, next.reject);
    }
    const isReady = this.#free.size + this.#starting.size > 0;
    if (!isReady && this.#children.size < maxProcesses && this.#backOff === null && !this.#isClosed)
      this.#startChild(false);
  }

  #next(): WaitingTask | null {
    const running = [...this.#lanes.values()];
    const isOpen = (lane: Lane): boolean =>
      lane === 'short' || running.filter((each) => each === lane).length < maxProcesses - 1;
    for (const waiting of this.#waiting) if (isOpen(waiting.lane)) return waiting;
    return null;
  }

  #startFirst(): Promise<FailureError | null> {
    return new Promise((resolve) => {
      this.#first = (failure) => {
        clearTimeout(timer);
        this.#first = null;
        resolve(failure);
      };
      const timer = setTimeout(
        () => this.#first?.(this.#unusable(`it is not read within ${String(startMs / 1000)} s`)),
        startMs,
      );
      this.#startChild(true);
    });
  }

  #startChild(tries: boolean): void {
    try {
      const child = new TextChild(this.#launcher, tries, {
        free: (free) => this.#becameFree(free),
        ended: (ended, end, unusable) => this.#ended(ended, end, unusable),
      });
      this.#children.add(child);
      this.#starting.add(child);
    } catch (error) {
      this.#failedToStart(new TextProcessEnded('unstarted', (error as Error).message));
    }
  }

  #becameFree(child: TextChild): void {
    if (this.#starting.delete(child)) this.#failedStarts = 0;
    this.#first?.(null);
    this.#lanes.delete(child);
    this.#free.add(child);
    this.#assign();
  }

  #ended(child: TextChild, end: TextProcessEnded, unusable: string | null): void {
    const { message, why } = end;
    const failedToStart = this.#starting.delete(child);
    this.#children.delete(child);
    this.#free.delete(child);
    this.#lanes.delete(child);
    if (this.#isClosed) return;
    if (this.#first !== null && why !== 'unstarted') {
      this.#first(
        this.#unusable(
          unusable ?? `it ends the process that reads it and tries it on simple texts: ${message}`,
        ),
      );
      return;
    }
    if (failedToStart) this.#failedToStart(end);
    else if (why !== 'unneeded') this.#warn(end);
    this.#assign();
  }

  #failedToStart(end: TextProcessEnded): void {
    this.#warn(end);
    const failure = new FailureError(
      'EngineFault',
      `no process can be started to tokenize or render text: ${end.message}`,
    );
    if (this.#first !== null) {
      this.#first(failure);
      return;
    }
    this.#waitToStart();
    if (this.#failedStarts < maxFailedStarts || this.#children.size > 0) return;
    for (const { reject } of this.#waiting) reject(failure);
  }

  #warn({ message, why }: TextProcessEnded): void {
    this.#options.logger.warn('a text process ended', { why, cause: message });
  }

  #waitToStart(): void {
    const ms = backoffMs(++this.#failedStarts, startBackoff);
    this.#backOff = setTimeout(() => {
      this.#backOff = null;
      this.#assign();
    }, ms);
  }

  #unusable(why: string): FailureError {
    return new FailureError('TokenizerInvalid', `${this.#options.tokenizerName} cannot be used: ${why}`);
  }
}

function queueTimeout(): FailureError {
  const waited = `the request waited ${String(waitMs / 1000)} s for others to be tokenized or rendered`;
  return new FailureError('QueueTimeout', waited);
}
