// An honest client that streams alongside an attack. Greedy tokens are the same whatever runs alongside them, so each of its
// streams must have the tokens of the first, which ran before the attack.

import { StreamClient } from '../load/stream-client.js';

/** Tokens of one stream: some seconds of the demo model on a busy machine. */
const streamTokens = 400;

interface Chunk {
  readonly error?: { readonly code: string };
  readonly choices?: readonly { readonly token_ids: readonly number[] | null }[];
}

export interface WitnessOptions {
  readonly port: number;
  /** Such as the witness's own API key. */
  readonly headers?: Readonly<Record<string, string>>;
}

export class Witness {
  /** What was not as in the undisturbed stream; empty when the attack did no harm. */
  readonly faults: string[] = [];
  /** Streams that ran alongside the attack, in part or whole. */
  streams = 0;
  /** Largest time between two events of one stream. */
  maxGapMs = 0;
  /** Largest time from a request to its first event. */
  maxFirstTokenMs = 0;
  readonly #options: WitnessOptions;
  readonly #undisturbed: readonly number[];
  #isOver = false;
  #streaming: Promise<void> = Promise.resolve();

  private constructor(options: WitnessOptions, undisturbed: readonly number[]) {
    this.#options = options;
    this.#undisturbed = undisturbed;
  }

  /** Resolves once one stream has ended undisturbed and the next has begun. */
  static async begin(options: WitnessOptions): Promise<Witness> {
    const alone = new Witness(options, []);
    const tokens = await alone.#stream(() => undefined);
    if (tokens.length !== streamTokens) {
      throw new Error(`the undisturbed stream: ${alone.faults.join(', ')}, ${String(tokens.length)} tokens`);
    }
    const witness = new Witness(options, tokens);
    await new Promise<void>((resolve) => {
      witness.#streaming = witness.#streamOnAndOn(resolve);
    });
    return witness;
  }

  /** Resolves once the stream that runs has come to its end. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#streaming;
  }

  async #streamOnAndOn(onFirstToken: () => void): Promise<void> {
    while (!this.#isOver) {
      this.streams += 1;
      const tokens = await this.#stream(onFirstToken);
      const same = this.#undisturbed.findIndex((id, i) => id !== tokens[i]);
      if (same !== -1) {
        this.faults.push(`stream ${String(this.streams)} differs from token ${String(same)} on`);
        break;
      }
    }
    onFirstToken();
  }

  async #stream(onFirstToken: () => void): Promise<number[]> {
    const tokens: number[] = [];
    const startedAt = performance.now();
    let lastAt: number | null = null;
    const onEvent = (data: string): void => {
      const now = performance.now();
      if (lastAt === null) this.maxFirstTokenMs = Math.max(this.maxFirstTokenMs, now - startedAt);
      else this.maxGapMs = Math.max(this.maxGapMs, now - lastAt);
      lastAt = now;
      const { error, choices = [] } = JSON.parse(data) as Chunk;
      if (error !== undefined) this.faults.push(`a stream ended with ${error.code}`);
      for (const { token_ids } of choices) tokens.push(...(token_ids ?? []));
      onFirstToken();
    };
    const client = new StreamClient({
      port: this.#options.port,
      path: '/v1/completions',
      headers: this.#options.headers ?? {},
      body: {
        prompt: 'The capital of',
        max_tokens: streamTokens,
        temperature: 0,
        ignore_eos: true,
        stream: true,
        return_token_ids: true,
      },
      onEvent,
    });
    await client.ended;
    if (!client.isComplete) this.faults.push(`a stream broke off, status ${String(client.status)}`);
    return tokens;
  }
}
