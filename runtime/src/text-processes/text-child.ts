// One text process as the server holds it, from its start to its end. The kernel bounds its memory, its channel its life;
// the server ends it where a task takes too long.

import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import { lowerPriority } from '../lower-priority.js';
import { processorMs } from './processor-time.js';
import type { MessagePart, TextProcessMessage, TextProcessStart, TextReply, TextTask } from './protocol.js';

/** The compiled entry; the same file whether this module runs compiled or from source. */
const entry = fileURLToPath(new URL('../../dist/text-processes/text-process.js', import.meta.url));

/**
 * Of what a process may write to in its address space (RLIMIT_DATA). Before its work, Node and its second thread take
 * 1,160 MB of it, of which they touch a tenth, and a tokenizer in memory thirty times its file. An allocation beyond the limit
 * fails, which ends the process, whether it was Node's or the tokenizer's.
 */
const dataKb = (fileBytes: number, roomMb: number): number =>
  (1200 + roomMb) * 1024 + Math.ceil((fileBytes * 30) / 1024);

/** Of JavaScript objects: a conversation of a million tokens is 4 MB of text, and no template needs this for it. */
const maxHeapMb = 384;
/** How many times its limit a task may take where others take the processors. */
const maxWaiting = 2;
/** Of a message to a process: to write megabytes into the channel at once holds up the event loop. */
const partBytes = 2 ** 18;
/** What a task of a client that left may still take, so that an ordinary one does not cost a process. */
const graceMs = 250;

/** `ulimit` binds the shell, and so the process that takes its place. */
const limited = 'ulimit -d "$1"; shift; exec "$@"';
const flags = ['--expose-gc', `--max-old-space-size=${String(maxHeapMb)}`, '--max-semi-space-size=16'];

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
  readonly #process: ChildProcess;
  readonly #listener: TextChildListener;
  readonly #exited: Promise<void>;
  #task: RunningTask | null = null;
  /** Its last words; the tokenizer's library writes there why it ends the process. */
  #errors = '';
  #killedFor: 'time' | 'unneeded' | null = null;
  #unusable: string | null = null;

  /** @throws Error of the system; other reasons why a process cannot be made are reported as its end */
  constructor(start: TextProcessStart, listener: TextChildListener) {
    this.#listener = listener;
    const limitKb = dataKb(start.tokenizerJson.length, start.roomMb);
    const command = [process.execPath, ...flags, entry, String(process.pid)];
    this.#process = spawn('/bin/sh', ['-c', limited, 'sh', String(limitKb), ...command], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      env: environment(),
    });
    lowerPriority(this.#process.pid);
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-4096);
    });
    this.#process.on('message', (message: TextProcessMessage) => this.#receive(message));
    this.#exited = new Promise((resolve) => {
      let isOver = false;
      const over = (code: number | null, signal: NodeJS.Signals | null): void => {
        if (isOver) return;
        isOver = true;
        this.#end(code, signal);
        resolve();
      };
      // `close`, not `exit`: what it wrote last has arrived then.
      this.#process.on('close', over);
      this.#process.on('error', ({ message }) => {
        this.#errors ||= message;
        if (this.#process.pid === undefined) over(null, null);
      });
    });
    this.#send(start);
  }

  get pid(): number | null {
    return this.#process.pid ?? null;
  }

  /**
   * To be called when it is free.
   * @param limitMs of a processor; on a busy machine a task may take twice as long
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
      this.#send(task);
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
    this.#process.kill('SIGKILL');
  }

  #send(message: TextProcessStart | TextTask): void {
    const bytes = serialize(message);
    const sendFrom = (at: number): void => {
      // The channel may close under us; the exit of the process says what happened.
      if (!this.#process.connected) return;
      const end = at + partBytes;
      const part: MessagePart = { bytes: bytes.subarray(at, end), isLast: end >= bytes.length };
      this.#process.send(part, (error) => {
        if (error === null && !part.isLast) sendFrom(end);
      });
    };
    sendFrom(0);
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

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    const end = this.#cause(code, signal);
    const task = this.#task;
    this.#task = null;
    this.#listener.ended(this, end, this.#unusable);
    task?.reject(end);
  }

  #cause(code: number | null, signal: NodeJS.Signals | null): TextProcessEnded {
    if (this.pid === null) return new TextProcessEnded('unstarted', this.#errors);
    const how = signal ?? `exit code ${String(code ?? 'unknown')}`;
    const said = lastWords(this.#errors);
    const message = `the text process ended: ${how}${said === '' ? '' : `, ${said}`}`;
    if (this.#killedFor !== null) return new TextProcessEnded(this.#killedFor, message);
    // Nothing in it kills the process so: the kernel did, or an administrator.
    if (signal === 'SIGKILL' || signal === 'SIGTERM') return new TextProcessEnded('outside', message);
    const isMemory = /memory allocation|out of memory|bad_alloc|allocation failed/i.test(this.#errors);
    return new TextProcessEnded(isMemory ? 'memory' : 'fault', message);
  }
}

/** Of the server's variables only what a rendering may read: the zone of its dates. Its one task needs one thread. */
function environment(): NodeJS.ProcessEnv {
  const { TZ } = process.env;
  return {
    ...(TZ === undefined ? {} : { TZ }),
    TOKENIZERS_PARALLELISM: 'false',
    RAYON_NUM_THREADS: '1',
    UV_THREADPOOL_SIZE: '1',
  };
}

/** The line that says why, of what Rust or Node writes when it gives up. */
function lastWords(errors: string): string {
  const lines = errors.split('\n').map((line) => line.trim());
  const line = lines.find((each) => /panicked|FATAL ERROR|memory allocation|Error:/.test(each)) ?? lines[0];
  return (line ?? '').slice(0, 200);
}
