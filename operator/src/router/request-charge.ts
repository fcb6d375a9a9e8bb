// What one request takes of its key's budgets, from its admission to its end: corrected as more is known of it. A service
// that reports nothing (another engine's) is charged by what its answer says of itself, or by its events.

import type { IncomingMessage } from 'node:http';
import { headers } from '@llmservice/crds';
import { nothingUsed, readUsage, type KeyBudget, type Moment, type UsageReport } from '@llmservice/crds/keys';
import { AnswerTail } from './answer-tail.js';

/** Between events of a stream. */
const eventEnd = Buffer.from('\n\n');

/** `none`: no service has it yet, or none took it; `taken`: one did, and may have computed. */
type State = 'none' | 'taken' | 'reported' | 'estimated';

export class RequestCharge {
  private readonly leave: () => void;
  private state: State = 'none';
  private charged = 0;
  /** Taken at least. */
  private taken: UsageReport;
  private events: number | null = null;
  private tail: AnswerTail | null = null;

  /**
   * @param ahead tokens of the prompt, at least
   * @throws RouterError rate_limit_exceeded
   */
  constructor(
    private readonly budget: KeyBudget,
    private readonly clock: () => Moment,
    ahead: number,
  ) {
    this.leave = budget.enter();
    this.taken = { ...nothingUsed, promptTokens: ahead };
    try {
      if (ahead > 0) budget.require(ahead, clock());
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
    if (this.state === 'estimated') this.tail = new AnswerTail();
    else this.taken = report ?? nothingUsed;
    if (given['content-type']?.startsWith('text/event-stream') === true) this.events = 0;
    this.charge();
  }

  /** A part of the answer passes. */
  passed(part: Buffer): void {
    this.tail?.add(part);
    if (this.events === null) return;
    const before = this.events;
    for (let at = part.indexOf(eventEnd); at >= 0; at = part.indexOf(eventEnd, at + eventEnd.length))
      this.events += 1;
    if (this.events === before) return;
    const completionTokens = Math.max(this.taken.completionTokens, this.events);
    this.taken = { ...this.taken, completionTokens };
    this.charge();
  }

  /** The answer has ended, whole or not. */
  ended({ trailers }: IncomingMessage): void {
    const report = readUsage(trailers[headers.usage]) ?? this.tail?.usage ?? null;
    if (report !== null) [this.taken, this.state] = [report, 'reported'];
    else if (this.events !== null) this.state = 'estimated';
  }

  /** Nothing of it runs any more. */
  close(): void {
    this.charge(this.used);
    this.budget.spendText(this.used.textTokens, this.clock());
    this.leave();
  }

  private charge({ promptTokens, completionTokens } = this.taken): void {
    const tokens = promptTokens + completionTokens;
    const now = this.clock();
    if (tokens > this.charged) this.budget.spend(tokens - this.charged, now);
    else if (tokens < this.charged) this.budget.giveBack(this.charged - tokens, now);
    this.charged = tokens;
  }
}
