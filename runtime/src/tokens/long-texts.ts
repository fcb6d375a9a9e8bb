// Long texts as token ids, off the event loop as a whole: the tokenizer's binding encodes on a thread pool, but hands the
// ids over one by one on the thread that asked, 15 to 30 ms for 100,000 of them. So a worker thread with a tokenizer of
// its own asks, and passes them on as they lie. It starts with the first long text, and ends after ten idle minutes.

import Tinypool from 'tinypool';
import type { EncodedBy, LongText } from './long-text-worker.js';

/** Shorter texts have at most some 10,000 tokens in practice: the worker would take longer than they hold up. */
export const longTextChars = 32_768;
/** As many as the thread pool of the process, where encoding runs, has threads. */
const atOnce = 4;

/** The compiled entry; the same file whether this module runs compiled or from source. */
const entry = new URL('../../dist/tokens/long-text-worker.js', import.meta.url).href;

export class LongTexts {
  readonly #tokenizerJson: SharedArrayBuffer;
  #pool: Tinypool | null = null;

  /** @param tokenizerJson of which the worker makes the same tokenizer */
  constructor(tokenizerJson: string) {
    // Shared, so that starting the worker copies nothing.
    const bytes = Buffer.from(tokenizerJson);
    this.#tokenizerJson = new SharedArrayBuffer(bytes.length);
    new Uint8Array(this.#tokenizerJson).set(bytes);
  }

  async encode(text: string, addSpecialTokens: boolean): Promise<Int32Array> {
    this.#pool ??= this.#start();
    return (await this.#pool.run({ text, addSpecialTokens } satisfies LongText)) as Int32Array;
  }

  /** What is being encoded fails. */
  async close(): Promise<void> {
    await this.#pool?.destroy();
    this.#pool = null;
  }

  #start(): Tinypool {
    const pool = new Tinypool({
      filename: entry,
      workerData: this.#tokenizerJson satisfies EncodedBy,
      // This process's own flags are not meant for threads.
      execArgv: [],
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: atOnce,
      idleTimeout: 600_000,
    });
    // Of a worker that cannot start, for want of memory or threads: unheard it would end the process, and what waits for
    // it would wait for ever. The next text tries again.
    pool.on('error', () => {
      if (this.#pool === pool) this.#pool = null;
      void pool.destroy();
    });
    return pool;
  }
}
