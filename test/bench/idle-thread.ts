// How late the scheduler runs a thread that does nothing but wait: what of a gap between tokens is the machine's.

import { Worker } from 'node:worker_threads';

/** Keeps the largest of what it posts. */
const timer = `
  const { parentPort } = require('node:worker_threads');
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    parentPort.postMessage(now - last);
    last = now;
  }, 10);
`;

export class IdleThread {
  /** Largest time between two runs of a timer of 10 ms. */
  maxGapMs = 0;
  readonly #worker = new Worker(timer, { eval: true });

  constructor() {
    this.#worker.on('message', (gapMs: number) => (this.maxGapMs = Math.max(this.maxGapMs, gapMs)));
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
