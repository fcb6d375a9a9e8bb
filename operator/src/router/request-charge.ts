// What one request takes of its key's budgets, from its admission to its end: corrected as more is known of it. A service
// that reports nothing (another engine's) is charged by what its answer says of itself, or by its events.

import type { IncomingMessage } from 'node:http';
import { headers } from '@llmservice/crds';
import { nothingUsed, readUsage, type KeyBudget, type Moment, type UsageReport } from '@llmservice/crds/keys';
import { AnswerUsage } from './answer-usage.js';
import { EventCount } from './event-count.js';

/** `none`: no service has it yet, or none took it; `taken`: one did, and may have computed. */
type State = 'none' | 'taken' | 'reported' | 'estimated';

export class RequestCharge {
  private readonly leave: () => void;
  private state: State = 'none';
  private charged = 0;
  /** Taken at least. */
  private taken: UsageReport;
  /** Null: it is no stream. */
  private events: EventCount | null = null;
  /** Null: the service reports. */
  private said: AnswerUsage | null = null;
  private whole = false;
  private readonly aheadAt: Moment;

  /**
   * @param budget null: keys are not asked for, and what is taken is only logged
   * @param ahead tokens of the prompt, at least
   * @throws RouterError rate_limit_exceeded
   */
  constructor(
    private readonly budget: KeyBudget | null,
    private readonly clock: () => Moment,
    ahead: number,
  ) {
    this.aheadAt = clock();
    this.leave = budget?.enter() ?? ((): void => undefined);
    this.taken = { ...nothingUsed, promptTokens: ahead };
    try {
      if (ahead > 0) budget?.require(ahead, this.aheadAt);
    } catch (error) {
      this.leave();
      throw error;
    }
    this.charge();
  }

  /** What it took, as far as that is known. */
  get used(): UsageReport {
    return this.state === 'none' ? nothingUsed : this.taken;
  }

  /** Whether a service took it that did not say how many tokens. */
  get isEstimated(): boolean {
    return this.state === 'estimated' || this.state === 'taken';
  }

  /** Whether an answer came to its end. */
  get isWhole(): boolean {
    return this.whole;
  }

  /** A service has it: it may compute, even if it never answers. */
  sent(): void {
    this.state = 'taken';
  }

  /** It has no room: nothing was taken. */
  refused(): void {
    this.state = 'none';
  }

  /** A service begins to answer. */
  begun({ statusCode = 0, headers: given }: IncomingMessage): void {
    const report = readUsage(given[headers.usage]);
    this.state = report === null && statusCode < 400 ? 'estimated' : 'reported';
    if (this.state === 'estimated') this.said = new AnswerUsage();
    else this.taken = report ?? nothingUsed;
    if (given['content-type']?.startsWith('text/event-stream') === true) this.events = new EventCount();
    this.charge();
  }

  /** A part of the answer passes. */
  passed(part: Buffer): void {
    this.said?.add(part);
    if (this.events === null) return;
    this.events.add(part);
    const { value: completionTokens } = this.events;
    if (completionTokens <= this.taken.completionTokens) return;
    this.taken = { ...this.taken, completionTokens };
    this.charge();
  }

  /** The answer has ended, whole or not. */
  ended({ trailers, complete }: IncomingMessage): void {
    this.whole = complete;
    // The count of a whole answer stands at its end. What was cut off may have something like it that its client sent, as a tool.
    const said = complete ? (this.said?.last ?? null) : null;
    const report = readUsage(trailers[headers.usage]) ?? said;
    if (report !== null) [this.taken, this.state] = [report, 'reported'];
    else if (this.events !== null) this.state = 'estimated';
  }

  /** Nothing of it runs any more. */
  close(): void {
    this.charge(this.used);
    this.budget?.spendText(this.used.textTokens, this.clock());
    this.leave();
  }

  private charge({ promptTokens, completionTokens } = this.taken): void {
    const tokens = promptTokens + completionTokens;
    const now = this.clock();
    if (tokens > this.charged) this.budget?.spend(tokens - this.charged, now);
    else if (tokens < this.charged) this.budget?.giveBack(this.charged - tokens, this.aheadAt, now);
    this.charged = tokens;
  }
}
