// Clients that ask for one long stream after the other, and what became of the streams.

import { eventually } from '../processes.js';
import { chatBody, chatPath, stream } from './gateway.js';

const tokens = 60;

export class SteadyStreams {
  /** Why streams were not whole. */
  readonly failures: string[] = [];
  private answered = 0;
  private isOver = false;
  private readonly running: Promise<unknown>;

  /** @param clients at once */
  constructor(
    private readonly host: string,
    private readonly clients: number,
  ) {
    this.running = Promise.all(Array.from({ length: clients }, () => this.ask()));
  }

  /** Waits until each client has had another answer, as a mean. */
  async flow(when: string): Promise<void> {
    const before = this.answered;
    await eventually(`answers ${when}`, () => this.answered > before + this.clients, 60_000);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  private async ask(): Promise<void> {
    while (!this.isOver) {
      await answer(this.host).then(
        () => (this.answered += 1),
        (error: unknown) => this.failures.push((error as Error).message),
      );
    }
  }
}

/** One answer, streamed to its end. @throws where it is not whole */
async function answer(host: string): Promise<void> {
  const body = chatBody('Tell me about the project.', { max_tokens: tokens, ignore_eos: true });
  const events: string[] = [];
  for await (const { data } of stream(host, chatPath, body)) events.push(data);
  const finish = /"finish_reason":"(\w+)"/.exec(events.at(-2) ?? '')?.[1];
  if (events.at(-1) !== '[DONE]' || finish !== 'length')
    throw new Error(`an answer that is not whole: ${events.slice(-2).join(' ')}`);
}
