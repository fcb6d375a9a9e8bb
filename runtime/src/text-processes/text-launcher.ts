// The launcher of text processes as the server holds it: started with the first of them, while the server is small, and again
// where it was lost. Its text processes end with it.

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { lowerPriority } from '../lower-priority.js';
import { sendInParts } from './message-parts.js';
import type {
  LauncherMessage,
  LauncherRequest,
  MessagePart,
  ProcessEnd,
  TextModel,
  TextProcessMessage,
  TextTask,
} from './protocol.js';

/** The compiled entry; the same file whether this module runs compiled or from source. */
const entry = fileURLToPath(new URL('../../dist/text-processes/launcher-process.js', import.meta.url));

/** It holds no object for long; what it passes on is outside of the heap. */
const execArgv = ['--max-old-space-size=64', '--max-semi-space-size=2'];

/**
 * Of what a text process may write to in its address space (RLIMIT_DATA). Before its work, Node and its second thread take
 * 1,160 MB of it, of which they touch a tenth, and a tokenizer in memory thirty times its file. An allocation beyond the limit
 * fails, which ends the process, whether it was Node's or the tokenizer's.
 */
const dataKb = ({ tokenizerJson, roomMb }: TextModel): number =>
  (1200 + roomMb) * 1024 + Math.ceil((tokenizerJson.length * 30) / 1024);

/** Within which it starts and ends a process, on a full machine too. One that stalls would leave tasks beyond their limit. */
const answerMs = 30_000;

export interface LaunchedListener {
  readonly message: (message: TextProcessMessage) => void;
  /** Once, the last of all. */
  readonly ended: (end: ProcessEnd) => void;
}

/** A text process that was asked for. */
export interface Launched {
  /** Null until it has started. */
  readonly pid: () => number | null;
  readonly send: (task: TextTask) => void;
  readonly kill: () => void;
}

interface Entry {
  readonly listener: LaunchedListener;
  pid: number | null;
  /** Runs while the launcher owes an answer. */
  due: NodeJS.Timeout | null;
}

export class TextLauncher {
  readonly #model: TextModel;
  readonly #launched = new Map<number, Entry>();
  #process: ChildProcess | null = null;
  #lastId = 0;

  constructor(model: TextModel) {
    this.#model = model;
  }

  /** @throws Error of the system; other reasons why a process cannot be made are reported as its end */
  launch(tries: boolean, listener: LaunchedListener): Launched {
    this.#process ??= this.#fork();
    const id = ++this.#lastId;
    const launched: Entry = { listener, pid: null, due: null };
    this.#launched.set(id, launched);
    this.#send({ kind: 'launch', id, dataKb: dataKb(this.#model), tries });
    this.#await(launched);
    return {
      pid: () => launched.pid,
      send: (task) => sendInParts(task, (part, taken) => this.#send({ kind: 'task', id, part }, taken)),
      kill: () => {
        if (!this.#launched.has(id)) return;
        this.#send({ kind: 'kill', id });
        this.#await(launched);
      },
    };
  }

  /** Ends it, and with it all that it started. Resolves when it has ended. */
  async close(): Promise<void> {
    const process = this.#process;
    if (process === null || process.pid === undefined) return;
    const exited = once(process, 'exit');
    process.kill('SIGKILL');
    await exited;
  }

  #fork(): ChildProcess {
    const process = fork(entry, [], {
      serialization: 'advanced',
      execArgv,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: environment(),
    });
    // Text processes inherit it.
    lowerPriority(process.pid);
    process.on('message', (message: LauncherMessage) => this.#receive(message));
    process.on('error', ({ message }) => {
      if (process.pid === undefined) this.#lost(process, { ...lost, errors: message });
    });
    process.on('exit', () => this.#lost(process, lost));
    this.#process = process;
    sendInParts(this.#model, (part: MessagePart, taken) => this.#send({ kind: 'model', part }, taken));
    return process;
  }

  /** A launcher that does not answer is ended, and so everything that it started. */
  #await(launched: Entry): void {
    const process = this.#process;
    launched.due ??= setTimeout(() => process?.kill('SIGKILL'), answerMs);
  }

  #answered(launched: Entry): void {
    if (launched.due !== null) clearTimeout(launched.due);
    launched.due = null;
  }

  #send(request: LauncherRequest, taken: (error: Error | null) => void = () => undefined): void {
    // The channel may close under us; the exit says what happened.
    if (this.#process?.connected === true) this.#process.send(request, taken);
  }

  #receive(message: LauncherMessage): void {
    const launched = this.#launched.get(message.id);
    if (launched === undefined) return;
    switch (message.kind) {
      case 'launched':
        launched.pid = message.pid;
        this.#answered(launched);
        return;
      case 'message':
        launched.listener.message(message.message);
        return;
      case 'ended':
        this.#launched.delete(message.id);
        this.#answered(launched);
        launched.listener.ended(message.end);
    }
  }

  #lost(process: ChildProcess, end: ProcessEnd): void {
    if (process !== this.#process) return;
    this.#process = null;
    const launched = [...this.#launched.values()];
    this.#launched.clear();
    for (const each of launched) {
      this.#answered(each);
      each.listener.ended({ ...end, isStarted: each.pid !== null });
    }
  }
}

const lost: ProcessEnd = {
  isStarted: false,
  code: null,
  signal: 'SIGKILL',
  errors: 'the launcher of text processes was lost',
};

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
