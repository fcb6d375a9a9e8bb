// One text process as the server holds it, from its start to its end. The kernel bounds its memory, its channel its life;
// the server ends it where a task takes too long.

import { processorMs } from '../processor-time.js';
import type { ProcessEnd, TextProcessMessage, TextReply, TextTask } from './protocol.js';
import type { Launched, TextLauncher } from './text-launcher.js';

/** How many times its limit a task may take where others take the processors. */
const maxWaiting = 4;
/** What a task of a client that left may still take, so that an ordinary one does not cost a process. */
const graceMs = 250;

/** Why a process ended before its reply. */
export class TextProcessEnded extends Error {
  override readonly name = 'TextProcessEnded';
  constructor(
    /**
     * outside: neither the server nor the task did it; unneeded: the server, for want of work for it; unstarted: it never
     * came to be.
     */
    readonly why: 'time' | 'memory' | 'fault' | 'outside' | 'unneeded' | 'unstarted',
    message: string,
  ) {
    super(message);
  }
}

export interface TextChildListener {
  /** It takes the next task; at first, and after each. */
  readonly free: (child: TextChild) => void;
  /** Once. `unusable`: what it said of the tokenizer. */
  readonly ended: (child: TextChild, end: TextProcessEnded, unusable: string | null) => void;
}

interface RunningTask {
  readonly resolve: (reply: TextReply) => void;
  readonly reject: (error: Error) => void;
}

export class TextChild {
  readonly #process: Launched;
  readonly #listener: TextChildListener;
  readonly #exited: Promise<void>;
  #task: RunningTask | null = null;
  #killedFor: 'time' | 'unneeded' | null = null;
  #unusable: string | null = null;

  /** @throws Error of the system; other reasons why a process cannot be made are reported as its end */
  constructor(launcher: TextLauncher, tries: boolean, listener: TextChildListener) {
    this.#listener = listener;
    let exited!: () => void;
    this.#exited = new Promise((resolve) => {
      exited = resolve;
    });
    this.#process = launcher.launch(tries, {
      message: (message) => this.#receive(message),
      ended: (end) => {
        this.#end(end);
        exited();
      },
    });
  }

  get pid(): number | null {
    return this.#process.pid();
  }

  /**
   * To be called when it is free.
   * @param limitMs of a processor; on a busy machine a task may take four times as long
   * @throws TextProcessEnded; the signal's reason
   */
  run(task: TextTask, limitMs: number, signal: AbortSignal | undefined): Promise<TextReply> {
    return new Promise((resolve, reject) => {
      const lastAt = performance.now() + limitMs * maxWaiting;
      const before = this.#processorMs() ?? 0;
      const look = (): void => {
        const left = limitMs - ((this.#processorMs() ?? Infinity) - before);
        if (left <= 0 || performance.now() >= lastAt) this.#kill('time');
        else timer = setTimeout(look, Math.max(left, 50));
      };
      let timer = setTimeout(look, limitMs);
      const left = (): void => {
        reject(signal?.reason as Error);
        setTimeout(() => this.#killTask(running), graceMs);
      };
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', left);
        then();
      };
      const running: RunningTask = {
        resolve: (reply) => settle(() => resolve(reply)),
        reject: (error) => settle(() => reject(error)),
      };
      this.#task = running;
      signal?.addEventListener('abort', left, { once: true });
      this.#process.send(task);
    });
  }

  /** Ends it at once; resolves when it has. What it works at fails. */
  async end(): Promise<void> {
    this.#kill('unneeded');
    await this.#exited;
  }

  #processorMs(): number | null {
    return this.pid === null ? null : processorMs(this.pid);
  }

  #killTask(task: RunningTask): void {
    if (this.#task === task) this.#kill('unneeded');
  }

  #kill(why: 'time' | 'unneeded'): void {
    this.#killedFor ??= why;
    this.#process.kill();
  }

  #receive(message: TextProcessMessage): void {
    if (message.kind === 'unusable') {
      this.#unusable = message.message;
      this.#kill('unneeded');
      return;
    }
    if (message.kind === 'reply') {
      const task = this.#task;
      this.#task = null;
      task?.resolve(message.reply);
      if (message.isWorn) this.#kill('unneeded');
    }
    if (this.#killedFor === null) this.#listener.free(this);
  }

  #end(processEnd: ProcessEnd): void {
    const end = this.#cause(processEnd);
    const task = this.#task;
    this.#task = null;
    this.#listener.ended(this, end, this.#unusable);
    task?.reject(end);
  }

  #cause({ isStarted, code, signal, errors }: ProcessEnd): TextProcessEnded {
    if (!isStarted) return new TextProcessEnded('unstarted', errors);
    const how = signal ?? `exit code ${String(code ?? 'unknown')}`;
    const said = lastWords(errors);
    const message = `the text process ended: ${how}${said === '' ? '' : `, ${said}`}`;
    if (this.#killedFor !== null) return new TextProcessEnded(this.#killedFor, message);
    // Nothing in it kills the process so: the kernel did, or an administrator.
    if (signal === 'SIGKILL' || signal === 'SIGTERM') return new TextProcessEnded('outside', message);
    const isMemory = /memory allocation|out of memory|bad_alloc|allocation failed/i.test(errors);
    return new TextProcessEnded(isMemory ? 'memory' : 'fault', message);
  }
}

/** The line that says why, of what Rust or Node writes when it gives up. */
function lastWords(errors: string): string {
  const lines = errors.split('\n').map((line) => line.trim());
  const line = lines.find((each) => /panicked|FATAL ERROR|memory allocation|Error:/.test(each)) ?? lines[0];
  return (line ?? '').slice(0, 200);
}
