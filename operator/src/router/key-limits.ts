// Budgets of keys over all models of a gateway, by the code and the Secret that services have for theirs. Others count
// afterwards alone (Envoy AI Gateway), in a store of their own (LiteLLM: Redis, and without it each replica gives the whole
// limit), or not at all (KubeAI). Here a request pays a lower bound before it is sent on, a token for each event of a stream
// as it passes, and in the end what its replica reports. Each router gives its part: nothing is shared or waited for.

import type { ServerResponse } from 'node:http';
import type { ConfiguredKey } from '@llmservice/crds';
import { rateLimitHeaders, type KeyBudget, type KeyBudgets, type Moment } from '@llmservice/crds/keys';
import { promptBound } from './prompt-bound.js';
import { RequestCharge } from './request-charge.js';

export class KeyLimits {
  constructor(
    private readonly budgets: KeyBudgets,
    private readonly clock: () => Moment,
  ) {}

  /** Refuses before its body is read what would be refused after it. @throws RouterError rate_limit_exceeded */
  requireAny(key: ConfiguredKey, response: ServerResponse): void {
    const now = this.clock();
    const budget = this.budgets.of(key, now);
    say(budget, now, response);
    budget.requireAny(now);
  }

  /**
   * Takes a place and what the body takes at least; the caller closes the charge.
   * @param key null: keys are not asked for
   * @param generates whether its prompt is charged, and not a text that is only read
   * @throws RouterError rate_limit_exceeded
   */
  begin(
    key: ConfiguredKey | null,
    body: Buffer,
    generates: boolean,
    response: ServerResponse,
  ): RequestCharge {
    const now = this.clock();
    const budget = key === null ? null : this.budgets.of(key, now);
    const ahead = generates ? promptBound(body) : 0;
    const charge = new RequestCharge(budget, this.clock, ahead);
    if (budget !== null) say(budget, now, response);
    return charge;
  }
}

function say(budget: KeyBudget, now: Moment, response: ServerResponse): void {
  const limit = budget.rateLimit(now);
  if (limit === null) return;
  for (const [name, value] of Object.entries(rateLimitHeaders(limit))) response.setHeader(name, value);
}
