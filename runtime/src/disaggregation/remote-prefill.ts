// Prompts of a decode pod that prefill pods compute: asks one, has what it computed fetched, and makes it a part of the
// prefix cache here, where admission finds it. Whatever goes wrong on the way, the prompt is computed here.

import { createHash } from 'node:crypto';
import type { GenerateRequest } from '../schedule/generation.js';
import { TransferFailed, type KvTransfer } from '../schedule/kv-transfer.js';
import type { ExpectedPrompt, FillRoom, PromptShare } from '../schedule/prompt-share.js';
import type { PodPlace } from './ask-prefill.js';
import type { PrefillAnswer, PrefillAsk } from './prefill-ask.js';
import { PrefillFailed } from './prefill-failed.js';
import type { PrefillPods } from './prefill-pods.js';
import type { TransferCounts } from './transfer-counts.js';

/** Pods that are asked for one prompt before it is computed here. */
const maxPodsAsked = 2;
/** Milliseconds that a prompt may wait at a prefill pod for its turn. */
const longestQueueMs = 5_000;

export interface RemoteParts {
  readonly prompts: PromptShare;
  readonly transfer: KvTransfer;
  readonly pods: Pick<PrefillPods, 'inOrder' | 'begin'>;
  readonly counts: TransferCounts;
  readonly port: number;
  readonly minTokens: number;
  readonly blockSize: number;
  readonly ask: (pod: PodPlace, ask: PrefillAsk, signal: AbortSignal) => Promise<PrefillAnswer>;
  readonly endTicket: (pod: PodPlace, ticket: string) => Promise<void>;
  /** Resolves once no step runs that began before. */
  readonly settled: () => Promise<void>;
  /** Called when blocks are free again, or a prompt has come. */
  readonly released: () => void;
  readonly now: () => number;
}

export class RemotePrefill {
  readonly #parts: RemoteParts;

  constructor(parts: RemoteParts) {
    this.#parts = parts;
  }

  /** Whether another pod is to compute the prompt. */
  wants(request: GenerateRequest): boolean {
    const { prompts, minTokens } = this.#parts;
    // Most prompts are short, and need no look into the cache.
    return request.prompt.length >= minTokens && prompts.lacking(request) >= minTokens;
  }

  /**
   * Resolves once the prompt is in the prefix cache, or is to be computed here.
   * @returns tokens of the prompt that nobody had to compute; null: it is to be computed here
   */
  async bring(request: GenerateRequest, signal: AbortSignal): Promise<number | null> {
    const { prompts, counts, released } = this.#parts;
    const expected = prompts.expect(request);
    const room: { current: FillRoom | null } = { current: null };
    try {
      if (!prompts.hasRoom(expected.missing)) throw new PrefillFailed('noRoom', 'the KV cache is in use');
      const answer = await this.#fromPods(request, expected, room, signal);
      if (room.current === null) throw new Error('a prompt came without room');
      prompts.fill(expected, room.current);
      return Math.min(answer.tokens, Math.max(expected.cached, answer.cachedTokens));
    } catch (error) {
      prompts.giveUp(expected, room.current);
      if (signal.aborted) return null;
      counts.fellBack(reasonOf(error));
      return null;
    } finally {
      released();
    }
  }

  /** @throws PrefillFailed, TransferFailed */
  async #fromPods(
    request: GenerateRequest,
    expected: ExpectedPrompt,
    room: { current: FillRoom | null },
    signal: AbortSignal,
  ): Promise<PrefillAnswer> {
    const { pods, port, ask, endTicket, now, counts } = this.#parts;
    const question = this.#questionOf(request, expected);
    let failure: Error = new PrefillFailed('noPod', 'no prefill pod is known, or all have failed just now');
    for (const host of pods.inOrder(this.#keyOf(request)).slice(0, maxPodsAsked)) {
      const pod = { host, port };
      const end = pods.begin(host);
      const askedAt = now();
      let answer: PrefillAnswer;
      try {
        answer = await ask(pod, question, signal);
        counts.asked(now() - askedAt);
      } catch (error) {
        end(signal.aborted || isOfThePrompt(error, request) ? 'left' : 'failed');
        failure = error as Error;
        if (signal.aborted) break;
        continue;
      }
      try {
        await this.#fetch(host, answer, expected, room, signal);
        end('done');
        return answer;
      } catch (error) {
        end(error instanceof TransferFailed && !signal.aborted ? 'failed' : 'left');
        throw error;
      } finally {
        void endTicket(pod, answer.ticket);
      }
    }
    throw failure;
  }

  async #fetch(
    host: string,
    answer: PrefillAnswer,
    expected: ExpectedPrompt,
    room: { current: FillRoom | null },
    signal: AbortSignal,
  ): Promise<void> {
    const { prompts, transfer, counts, settled, now } = this.#parts;
    const { ticket, port, tokens, blocks } = answer;
    this.#check(answer, expected);
    const taken = prompts.reserve(blocks);
    room.current = taken;
    if (taken === null) throw new PrefillFailed('noRoom', 'the KV cache is in use');
    const snapshot = taken.snapshot?.index ?? null;
    if ((snapshot !== null) !== answer.snapshot)
      throw new PrefillFailed(
        'badAnswer',
        `${host} has ${answer.snapshot ? 'a' : 'no'} state behind the prompt`,
      );
    // Whoever had these blocks before may still write to them in a step that runs.
    await settled();
    signal.throwIfAborted();
    const startedAt = now();
    const place = { host, port, ticket };
    const { bytes, snapshotAt } = await transfer.fetch(place, taken.blocks, snapshot, signal);
    if (snapshot !== null && snapshotAt !== tokens)
      throw new PrefillFailed(
        'badAnswer',
        `${host} has the state at ${String(snapshotAt)}, not at ${String(tokens)}`,
      );
    counts.fetched(tokens - this.#tokensOf(expected), bytes, now() - startedAt);
  }

  /** @throws PrefillFailed badAnswer, nothing */
  #check({ tokens, blocks }: PrefillAnswer, expected: ExpectedPrompt): void {
    if (tokens <= expected.cached || tokens < this.#tokensOf(expected))
      throw new PrefillFailed('nothing', `the pod has ${String(tokens)} tokens of the prompt`);
    const right = expected.blocks + blocks === tokens / this.#parts.blockSize && blocks <= expected.missing;
    if (right) return;
    const said = `${String(blocks)} blocks up to token ${String(tokens)}`;
    throw new PrefillFailed('badAnswer', `the pod has ${said}; ${String(expected.blocks)} are here`);
  }

  #tokensOf({ blocks }: ExpectedPrompt): number {
    return blocks * this.#parts.blockSize;
  }

  #questionOf(request: GenerateRequest, { blocks }: ExpectedPrompt): PrefillAsk {
    const { prompt, cacheSalt, boundaries, fairnessKey, priority, maxQueueMs } = request;
    return {
      ...{ prompt, cacheSalt, boundaries, fairnessKey, priority },
      layout: this.#parts.transfer.layout,
      from: blocks,
      maxQueueMs: Math.min(maxQueueMs ?? Infinity, longestQueueMs),
    };
  }

  /** Prompts that begin alike, for as long as makes one worth another pod, go to the same pod. */
  #keyOf({ prompt, cacheSalt }: GenerateRequest): string {
    const beginning = prompt.subarray(0, this.#parts.minTokens);
    return createHash('sha256')
      .update(beginning)
      .update(cacheSalt ?? '')
      .digest('hex');
  }
}

/** Whether a pod failed for what was asked, of which it may do others: one client's prompts keep no pod from those of others. */
function isOfThePrompt(error: unknown, { maxQueueMs }: GenerateRequest): boolean {
  if (!(error instanceof PrefillFailed)) return false;
  const isImpatient = maxQueueMs !== null && maxQueueMs < longestQueueMs;
  return error.reason === 'refused' || (error.reason === 'busy' && isImpatient);
}

function reasonOf(error: unknown): PrefillFailed['reason'] {
  return error instanceof PrefillFailed || error instanceof TransferFailed ? error.reason : 'internal';
}
