// Reads long checkpoints in a process for each, with limits of memory and time: whatever lies in a tenant's bucket ends
// that process at most, never the operator, whose main thread runs on meanwhile.

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FailureError } from '@llmservice/crds';
import type { Checkpoint } from '../domain/checkpoint.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { Guarding } from './cluster-guard.js';
import type { LongReaderAnswer, LongReaderJob } from './long-reader-job.js';
import type { LookLimits } from './judge-checkpoint.js';
import type { ServiceSecrets } from './service-secrets.js';

/** 400,000 tensors take 230 MiB. Two such processes are in the memory limit of the operator's chart. */
const maxHeapMiB = 384;
/** How long a process that is late may take to report it itself. */
const graceMs = 5_000;

export interface LongReaderOptions {
  /** Another program, in tests. */
  readonly entry?: string;
  readonly maxHeapMiB?: number;
  readonly graceMs?: number;
}

export class LongReader {
  constructor(
    private readonly secrets: Pick<ServiceSecrets, 'open'>,
    private readonly endpoints: Pick<Guarding, 'rules'>,
    private readonly options: LongReaderOptions = {},
  ) {}

  /** @throws FailureError; what the secrets throw; the signal's reason where it aborts */
  async judge(
    service: WantedService,
    { maxMs, signal }: Pick<LookLimits, 'maxMs' | 'signal'>,
  ): Promise<Checkpoint> {
    const secrets = await this.secrets.open(service);
    signal.throwIfAborted();
    const child = this.start();
    try {
      const answer = await this.ask(
        child,
        { service, endpoints: this.endpoints.rules, ...secrets, maxMs },
        signal,
      );
      if (answer.state === 'resolved') return answer.checkpoint;
      if (answer.state === 'error') throw new Error(answer.message);
      const { reason, message, detail } = answer.failure;
      throw new FailureError(reason, message, detail);
    } finally {
      child.kill('SIGKILL');
    }
  }

  private start(): ChildProcess {
    const { entry = defaultEntry, maxHeapMiB: heap = maxHeapMiB } = this.options;
    const child = fork(entry, [], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${heap}`, '--max-semi-space-size=2'],
      // None of the operator's variables, and none of its output.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // Of one that has ended, too late for whoever waited.
    child.on('error', () => undefined);
    return child;
  }

  private async ask(child: ChildProcess, job: LongReaderJob, signal: AbortSignal): Promise<LongReaderAnswer> {
    const { graceMs: grace = graceMs, maxHeapMiB: heap = maxHeapMiB } = this.options;
    const settled = new AbortController();
    const until = { signal: AbortSignal.any([signal, settled.signal]) };
    const { uri } = job.service.spec.model;
    const answered = once(child, 'message', until).then(([answer]) => answer as LongReaderAnswer);
    // Comes after all messages.
    const ended = once(child, 'disconnect', until).then(() => {
      throw unreadable(`reading ${uri} took more than ${heap} MiB of memory: the process that read it ended`);
    });
    const late = sleep(job.maxMs + grace, undefined, { ...until, ref: false }).then(() => {
      throw unreadable(`reading ${uri} did not end within ${job.maxMs / 1000} s`);
    });
    try {
      child.send(job);
      return await Promise.race([answered, ended, late]);
    } finally {
      settled.abort();
      await Promise.allSettled([answered, ended, late]);
    }
  }
}

/** In either layout: beside the sources where tests run them, or beside the compiled ones. */
const defaultEntry = fileURLToPath(new URL('../../dist/preflight/long-reader-main.js', import.meta.url));

function unreadable(message: string): FailureError {
  return new FailureError('CheckpointUnreadable', message);
}
