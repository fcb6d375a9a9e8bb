// `llmservice serve` of a folder, in a process of its own, with what it needs to know of its start.

import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { byteTokenizer } from '../builders/byte-tokenizer.js';
import { StreamClient } from '../load/stream-client.js';
import { freePort, start, stop } from '../processes.js';

interface Health {
  readonly state: string;
  readonly load: {
    readonly loaded: { readonly bytesDone: number; readonly bytesTotal: number } | null;
  } | null;
}

/** Milliseconds from the start of the process. */
export interface StartTimes {
  /** All weights read; null where nobody looked while they were. */
  readonly loaded: number | null;
  readonly serving: number;
}

/** What one streamed answer looked like from outside, in milliseconds from its request. */
export interface Answer {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly status: number;
  readonly isComplete: boolean;
}

export class ServedModel {
  readonly #startedAt = performance.now();

  private constructor(
    readonly child: ChildProcess,
    readonly port: number,
    private readonly folder: string,
  ) {}

  /**
   * `runtime`: the folder of the compiled runtime. A `model` without a tokenizer gets one of bytes: prompts are ids.
   */
  static async start(
    runtime: string,
    model: string,
    flags: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<ServedModel> {
    const tokenizer = join(model, 'tokenizer.json');
    if (!existsSync(tokenizer)) writeFileSync(tokenizer, JSON.stringify(byteTokenizer()));
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-gpu-'));
    const port = await freePort();
    const args = [
      join(runtime, 'dist/cli/main.js'),
      ...[
        'serve',
        '--model',
        resolve(model),
        '--name',
        'bench',
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
      ],
      ...flags,
    ];
    const child = start(process.execPath, args, join(folder, 'log'), env);
    return new ServedModel(child, port, folder);
  }

  /** @throws with the log when the process ends instead, or after `limitMs`. */
  async serving(limitMs: number): Promise<StartTimes> {
    let loaded: number | null = null;
    while (performance.now() - this.#startedAt < limitMs) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) break;
      const health = await this.#health();
      const at = performance.now() - this.#startedAt;
      const bytes = health?.load?.loaded ?? null;
      if (bytes !== null && bytes.bytesTotal > 0 && bytes.bytesDone === bytes.bytesTotal) loaded ??= at;
      if (health?.state === 'serving') return { loaded, serving: at };
      await sleep(20);
    }
    throw new Error(`the model is not served: ${this.log}`);
  }

  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8').slice(-4000);
  }

  /** A greedy answer of exactly so many tokens, streamed; ends when the connection does. */
  async ask(prompt: readonly number[], tokens: number, onEvent = (): void => undefined): Promise<Answer> {
    const begin = performance.now();
    let [firstMs, lastMs] = [NaN, NaN];
    const client = new StreamClient({
      port: this.port,
      path: '/v1/completions',
      body: { prompt, max_tokens: tokens, temperature: 0, ignore_eos: true, stream: true },
      onEvent: () => {
        lastMs = performance.now() - begin;
        if (Number.isNaN(firstMs)) firstMs = lastMs;
        onEvent();
      },
    });
    await client.ended;
    return { firstMs, lastMs, status: client.status, isComplete: client.isComplete };
  }

  async stop(): Promise<void> {
    await stop(this.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #health(): Promise<Health | null> {
    try {
      return (await (await fetch(`http://127.0.0.1:${String(this.port)}/health`)).json()) as Health;
    } catch {
      return null; // it does not listen yet
    }
  }
}

/** Token ids of a prompt, others for every `seed`; all of them lie below `vocab`. */
export function promptOf(length: number, vocab: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => (i * 7919 + seed * 104729) % vocab);
}
