// One request's account, from its admission to its last token: what its key may use, what it used, and one line in the
// accounting log when it ended and all its generations have. A request without a key has the line only, and one that
// neither generated nor made tokens of a text has none.

import type { ConfiguredKey } from '@llmservice/crds';
import {
  nothingUsed,
  type KeyBudget,
  type Moment,
  type RateLimit,
  type UsageReport,
} from '@llmservice/crds/keys';
import type { AccountingRecord } from '@llmservice/crds/accounting';
import type { GenerateRequest, UsedAdapter } from '../schedule/generation.js';
import { ApiError } from '../request/body/api-error.js';
import type { FinishedGeneration } from '../observe/ended-request.js';
import { totalUsage } from '../observe/request-totals.js';
import { cacheSaltOf } from './cache-salt.js';

/** A request, as the log has it. */
export interface AccountedRequest {
  readonly id: string;
  readonly route: string;
  readonly model: string;
}

/** Who wants to know what was used, and what holds of requests without keys. */
export interface UsageEvents {
  readonly mostUrgentPriority: number;
  generated(keyId: string, tokens: number): void;
  /** Once, where something was used; the record is made when it is called for. */
  finished(record: () => AccountingRecord): void;
  /** Whether generations are to be logged with their texts. */
  readonly keepsTexts: boolean;
  /** Nothing of the request runs any more; its generations in the order in which they began. Once. */
  settled(generations: readonly FinishedGeneration[]): void;
}

export interface KeyAccess {
  readonly key: ConfiguredKey;
  readonly budget: KeyBudget;
}

export class RequestAccount {
  readonly #request: AccountedRequest & { readonly adapter: UsedAdapter | null };
  readonly #access: KeyAccess | null;
  readonly #events: UsageEvents;
  readonly #clock: () => Moment;
  readonly #onRateLimit: (limit: RateLimit) => void;
  readonly #leave: () => void;
  /** Null: it continues. */
  readonly #generations: (FinishedGeneration | null)[] = [];
  #textTokens = 0;
  /** What was charged, or would have been where it has no key. */
  #used = nothingUsed;
  #closed = false;
  /** Whether its work was charged. */
  #charged = false;

  /**
   * @param access null: no keys are configured
   * @param onRateLimit gets the key's rate limit as it changes before the answer begins
   * @throws ApiError rate_limit_exceeded
   */
  constructor(
    request: AccountedRequest & { readonly adapter: UsedAdapter | null },
    access: KeyAccess | null,
    events: UsageEvents,
    clock: () => Moment,
    onRateLimit: (limit: RateLimit) => void,
  ) {
    this.#request = request;
    this.#access = access;
    this.#events = events;
    this.#clock = clock;
    this.#onRateLimit = onRateLimit;
    this.#reportLimit();
    this.#leave = access?.budget.enter() ?? ((): void => undefined);
  }

  /** Null: no keys are configured. */
  get keyId(): string | null {
    return this.#access?.key.id ?? null;
  }

  get keepsTexts(): boolean {
    return this.#events.keepsTexts;
  }

  /**
   * The request with its adapter, and with the share and the cached prompts of its key. A weight of w is log2(w) levels of priority: each
   * doubles the share.
   * @param priority that the client asked for; null: it did not
   * @throws ApiError invalid_request where it is more urgent than the key, or a request without one, may ask for
   */
  share(prepared: GenerateRequest, priority: number | null): GenerateRequest {
    const request = { ...prepared, adapter: this.#request.adapter };
    if (this.#access === null) {
      requireBound(priority, this.#events.mostUrgentPriority, 'requests may be here');
      return request;
    }
    const { key } = this.#access;
    const { id, priority: own, weight } = key;
    requireBound(priority, own, `the key ${id} may ask for`);
    const cacheSalt = cacheSaltOf(key, request.cacheSalt);
    return { ...request, cacheSalt, fairnessKey: id, priority: (priority ?? own) - Math.log2(weight) };
  }

  /**
   * Spends all prompts of the request, once none of them can be refused any more.
   * @param signal whose reason is thrown where the request was ended while they were prepared: none of them begins
   * @throws ApiError rate_limit_exceeded
   */
  spendPrompts(tokens: number, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.#access !== null) {
      const { budget } = this.#access;
      const now = this.#clock();
      budget.require(tokens, now);
      budget.spend(tokens, now);
    }
    this.#used = { ...this.#used, promptTokens: this.#used.promptTokens + tokens };
    this.#charged = true;
    this.#reportLimit();
  }

  /** Tokens of a text that is the answer itself, or is counted, and not generated from. */
  spendText(tokens: number): void {
    this.#textTokens += tokens;
    this.#charge(tokens);
  }

  /**
   * Charges a request that was refused after its text was checked: else whoever is refused could continue for ever.
   * @param tokens as many as its body may have had
   */
  refused(tokens: number): void {
    if (!this.#charged) this.#charge(tokens);
  }

  spendGenerated(tokens: number): void {
    this.#used = { ...this.#used, completionTokens: this.#used.completionTokens + tokens };
    if (this.#access === null || tokens === 0) return;
    this.#access.budget.spend(tokens, this.#clock());
    this.#events.generated(this.#access.key.id, tokens);
  }

  /** What it took until now, as its key is charged for it. */
  get used(): UsageReport {
    return this.#used;
  }

  /** Something begins that uses tokens, those of its prompt included; call the answer once with how it ended. */
  begin(): (generation: FinishedGeneration) => void {
    const place = this.#generations.push(null) - 1;
    return (generation) => {
      this.#generations[place] ??= generation;
      this.#report();
    };
  }

  /** Nothing begins any more. */
  close(): void {
    this.#leave();
    this.#closed = true;
    this.#report();
  }

  #charge(tokens: number): void {
    this.#charged = true;
    this.#used = { ...this.#used, textTokens: this.#used.textTokens + tokens };
    this.#access?.budget.spendText(tokens, this.#clock());
  }

  #reportLimit(): void {
    const limit = this.#access?.budget.rateLimit(this.#clock()) ?? null;
    if (limit !== null) this.#onRateLimit(limit);
  }

  #report(): void {
    const generations = this.#generations.filter((generation) => generation !== null);
    if (!this.#closed || generations.length < this.#generations.length) return;
    if (generations.length > 0 || this.#textTokens > 0)
      this.#events.finished(() => this.#record(generations));
    this.#events.settled(generations);
  }

  #record(generations: readonly FinishedGeneration[]): AccountingRecord {
    const { id, route, model } = this.#request;
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = totalUsage(generations);
    return {
      time: new Date(this.#clock().unixMs).toISOString(),
      id,
      key: this.#access?.key.id ?? null,
      route,
      model,
      promptTokens,
      cachedTokens,
      completionTokens,
      reasoningTokens,
      textTokens: this.#textTokens,
      finish: generations.map(({ finishReason }) => finishReason),
    };
  }
}

/** @throws ApiError invalid_request */
function requireBound(priority: number | null, bound: number, whose: string): void {
  if (priority === null || priority >= bound) return;
  const message = `priority ${String(priority)} is more urgent than ${whose}; send ${String(bound)} or more`;
  throw ApiError.of('invalid_request', message, { param: 'priority' });
}
