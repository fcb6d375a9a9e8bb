// What one key may use of this process, a replica of a service or of a gateway's router: its budgets, each divided by the
// processes that share them. Replicas spend prompts when a request begins, generated tokens as they come, and give nothing
// back; routers charge ahead, and give back what the request did not take. Texts that are encoded or rendered and not
// generated from have a bucket of their own: they cost a process's time, and none of the engine's.

import type { ConfiguredKey } from '../read-key-file.js';
import { DayBudget } from './day-budget.js';
import type { Moment } from './moment.js';
import { TokenBucket } from './token-bucket.js';

export type Limit = 'tokensPerMinute' | 'tokensPerDay' | 'concurrency' | 'textTokensPerMinute';

/** A request that a limit refuses. */
export interface LimitRefusal {
  readonly limit: Limit;
  /** For the client. */
  readonly message: string;
  readonly retryAfterSeconds: number;
}

/** A limit as it is now, for a client's own pacing. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until all of it is there again. */
  readonly resetSeconds: number;
}

/** Tokens per minute of texts that are not generated from, for each of tokensPerMinute. */
export const textShare = 10;

/** Nobody knows when one of the key's own requests ends. */
const concurrencyRetrySeconds = 1;

export class KeyBudget {
  #key: ConfiguredKey;
  #minute: TokenBucket | null = null;
  #text: TokenBucket | null = null;
  /** Counts without a limit too: one may be set in the midst of a day. */
  readonly #day = new DayBudget(Infinity);
  #running = 0;
  /** Tokens of the last prompt that room was asked for: the next one may have as many. */
  #lastPrompt = 1;
  readonly #replicas: number;
  readonly #refused: (refusal: LimitRefusal) => Error;

  /** @param refused is called for every request that a limit refuses, and gives what is thrown then */
  constructor(key: ConfiguredKey, replicas: number, now: Moment, refused: (refusal: LimitRefusal) => Error) {
    this.#key = key;
    this.#replicas = replicas;
    this.#refused = refused;
    this.configure(key, now);
  }

  /** Takes over limits that changed; what was used stays used. */
  configure(key: ConfiguredKey, now: Moment): void {
    this.#key = key;
    const { tokensPerMinute, tokensPerDay } = key;
    const perMinute = tokensPerMinute === null ? null : this.#part(tokensPerMinute);
    this.#minute = resized(this.#minute, perMinute, now.steadyMs);
    this.#text = resized(this.#text, perMinute === null ? null : perMinute * textShare, now.steadyMs);
    this.#day.resize(this.#part(tokensPerDay ?? Infinity));
  }

  /**
   * Takes room for a request; call the answer once to give it back.
   * @throws what `refused` gives
   */
  enter(): () => void {
    this.#requirePlace();
    this.#running += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#running -= 1;
    };
  }

  /**
   * Asks whether the key may begin anything at all, so that one that may not costs no work.
   * @throws what `refused` gives
   */
  requireAny(now: Moment): void {
    this.#requirePlace();
    this.#requireTokens(1, 'no tokens are left', now, this.#lastPrompt);
    const textMs = this.#text?.waitMs(1, now.steadyMs) ?? 0;
    const perMinute = (this.#key.tokensPerMinute ?? 0) * textShare;
    const state = 'texts that were not generated from have used it up';
    if (textMs > 0) this.#refuse('textTokensPerMinute', perMinute, state, textMs / 1000);
  }

  /**
   * Asks for room for a prompt, and spends nothing. It is asked once the prompt's tokens are known and not before, since
   * only then the time to wait is.
   * @throws what `refused` gives, with when there will be room if the key uses nothing until then
   */
  require(promptTokens: number, now: Moment): void {
    this.#lastPrompt = Math.max(1, promptTokens);
    const state = `the prompt has ${String(promptTokens)} tokens, and fewer are left`;
    this.#requireTokens(promptTokens, state, now);
  }

  spend(tokens: number, now: Moment): void {
    this.#minute?.spend(tokens, now.steadyMs);
    this.#day.spend(tokens, now.dayMs);
  }

  /** Of what was spent at a moment before, and not taken. */
  giveBack(tokens: number, spentAt: Moment, now: Moment): void {
    this.#minute?.giveBack(tokens, now.steadyMs);
    this.#day.giveBack(tokens, spentAt.dayMs, now.dayMs);
  }

  /** Of a text that is not generated from. It may owe: nothing begins until that is paid. */
  spendText(tokens: number, now: Moment): void {
    this.#text?.spend(tokens, now.steadyMs);
  }

  /** Spent before this process was, on the day of `at`, in Unix milliseconds, as the accounting log says. */
  spentOnDay(tokens: number, at: number): void {
    this.#day.spend(tokens, at);
  }

  /** Of the tokens per minute; null: they are not limited. */
  rateLimit(now: Moment): RateLimit | null {
    const { tokensPerMinute } = this.#key;
    if (this.#minute === null || tokensPerMinute === null) return null;
    return {
      limit: Math.floor(this.#part(tokensPerMinute)),
      remaining: Math.floor(this.#minute.left(now.steadyMs)),
      resetSeconds: Math.ceil(this.#minute.waitMs(Infinity, now.steadyMs) / 1000),
    };
  }

  /** This replica's part; of anything, it gives one at least. */
  #part(whole: number): number {
    return Math.max(1, whole / this.#replicas);
  }

  #requirePlace(): void {
    const { concurrency } = this.#key;
    if (concurrency === null || this.#running < Math.floor(this.#part(concurrency))) return;
    const state = `${String(this.#running)} requests are running`;
    this.#refuse('concurrency', concurrency, state, concurrencyRetrySeconds);
  }

  /** @param next tokens of what will be sent again where there is no room; more than `tokens` where that is known */
  #requireTokens(tokens: number, state: string, now: Moment, next = tokens): void {
    const { tokensPerMinute, tokensPerDay } = this.#key;
    const waits = (each: number): { readonly minuteMs: number; readonly dayMs: number } => ({
      minuteMs: this.#minute?.waitMs(each, now.steadyMs) ?? 0,
      dayMs: this.#day.waitMs(each, now.dayMs),
    });
    const needed = waits(tokens);
    if (needed.minuteMs === 0 && needed.dayMs === 0) return;
    const { minuteMs, dayMs } = waits(next);
    if (dayMs > minuteMs) this.#refuse('tokensPerDay', tokensPerDay ?? 0, state, dayMs / 1000);
    this.#refuse('tokensPerMinute', tokensPerMinute ?? 0, state, minuteMs / 1000);
  }

  #refuse(limit: Limit, value: number, state: string, seconds: number): never {
    const retryAfterSeconds = Math.max(1, Math.ceil(seconds));
    const shared = this.#replicas === 1 ? '' : `, divided among ${String(this.#replicas)} replicas`;
    const message =
      `the key ${this.#key.id} has reached its limit ${limit}: ${String(value)}${shared}; ${state}; ` +
      `send the request again in ${String(retryAfterSeconds)} s`;
    throw this.#refused({ limit, message, retryAfterSeconds });
  }
}

/** What was spent stays spent. @param now of the steady clock, in milliseconds */
function resized(bucket: TokenBucket | null, perMinute: number | null, now: number): TokenBucket | null {
  if (perMinute === null || bucket === null)
    return perMinute === null ? null : new TokenBucket(perMinute, now);
  bucket.resize(perMinute, now);
  return bucket;
}
