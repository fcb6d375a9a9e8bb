// Many streams at once: as many as the engine takes at a time generate, the others are admitted and wait. One that ends
// is followed by another, so that the numbers hold as long as it lasts.

import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../median.js';
import { eventually } from '../processes.js';
import type { Seen } from './accounting.js';
import type { LoadReplica } from './load-replica.js';
import { valueOf } from './server-watch.js';
import { StreamClient } from './stream-client.js';
import { TokenCount } from './token-count.js';

interface OpenStream {
  readonly client: StreamClient;
  /** The last event: that of a complete answer has its usage. */
  last: string;
}

export class ManyStreams {
  /** What went wrong at a client; empty when nothing did. */
  readonly errors: string[] = [];
  readonly #port: number;
  readonly #open = new Set<OpenStream>();
  readonly #seen: Seen[] = [];
  #events = 0;
  #leaving = false;

  constructor(port: number) {
    this.#port = port;
  }

  get events(): number {
    return this.#events;
  }

  /** @param maxTokens of each answer, which always has as many */
  open(count: number, maxTokens: number): void {
    for (let i = 0; i < count; i += 1) this.#openOne(maxTokens);
  }

  /** All clients go away at once; what they saw. */
  async leave(): Promise<Seen[]> {
    this.#leaving = true;
    const clients = [...this.#open].map(({ client }) => client);
    for (const client of clients) client.destroy();
    await Promise.all(clients.map((client) => client.ended));
    return this.#seen;
  }

  /** All answers come to their end, and none follows; what the clients saw. */
  async finish(): Promise<Seen[]> {
    this.#leaving = true;
    await Promise.all([...this.#open].map(({ client }) => client.ended));
    return this.#seen;
  }

  #openOne(maxTokens: number): void {
    const body = { prompt: 'The', max_tokens: maxTokens, ignore_eos: true, stream: true };
    const onEvent = (data: string): void => {
      this.#events += 1;
      stream.last = data;
    };
    const client = new StreamClient({ port: this.#port, path: '/v1/completions', body, onEvent });
    const stream: OpenStream = { client, last: '' };
    this.#open.add(stream);
    void client.ended.then(() => this.#ended(stream, maxTokens));
  }

  #ended(stream: OpenStream, maxTokens: number): void {
    const { client, last } = stream;
    this.#open.delete(stream);
    const end = new TokenCount();
    if (client.isComplete) end.take(last);
    if (client.id !== '')
      this.#seen.push({ id: client.id, tokens: end.usage?.completion_tokens ?? 0, usage: end.usage });
    if (client.isComplete && end.usage?.completion_tokens === maxTokens) {
      if (!this.#leaving) this.#openOne(maxTokens);
    } else if (!this.#leaving || client.isComplete) {
      this.errors.push(
        `status ${String(client.status)}, ${String(client.events)} events, last: ${last.slice(0, 200)}`,
      );
    }
  }
}

/** Resolves when so many requests run, and so many wait. */
export async function untilBusy(replica: LoadReplica, running: number, waiting: number): Promise<void> {
  await eventually(
    `${String(running)} running and ${String(waiting)} waiting`,
    async () => {
      const metrics = await replica.watch.metrics();
      const now = [
        valueOf(metrics, 'vllm:num_requests_running'),
        valueOf(metrics, 'vllm:num_requests_waiting'),
      ];
      if (now[0] !== running || (now[1] ?? 0) < waiting) throw new Error(now.join(' and '));
      return true;
    },
    120_000,
  );
}

/** The resident memory at its median over some seconds. */
export async function steadyBytes(read: () => number, seconds: number): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < seconds * 4; i += 1) {
    samples.push(read());
    await sleep(250);
  }
  return median(samples);
}
