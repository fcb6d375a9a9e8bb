// A replica under load, with its accounting log, and how it is found once the load is over.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { eventually } from '../processes.js';
import { processTree, scriptOf } from '../process-tree.js';
import { disagreements, readAccounting, type Seen } from './accounting.js';
import { residentBytes, ServerWatch, valueOf } from './server-watch.js';

export interface LoadOptions {
  /** Folder of the checkpoint; absent: the demo model's. */
  readonly checkpoint?: string;
  readonly maxNumSeqs: number;
  readonly maxWaiting: number;
  /** Compute threads of the engine; null: one per core. */
  readonly threads: number | null;
  /** Variables for the server besides. */
  readonly env?: NodeJS.ProcessEnv;
}

export class LoadReplica {
  private constructor(
    private readonly replica: ReplicaProcess,
    readonly watch: ServerWatch,
    private readonly accounting: string,
    private readonly socketsAtRest: number,
  ) {}

  static async start(options: LoadOptions): Promise<LoadReplica> {
    const { checkpoint = demoCheckpoint, maxNumSeqs, maxWaiting, threads } = options;
    const accounting = mkdtempSync(join(tmpdir(), 'llmservice-load-'));
    const env = {
      ACCOUNTING_DIR: accounting,
      LLMSERVICE_MAX_WAITING: String(maxWaiting),
      ...(threads === null ? {} : { LLMSERVICE_THREADS: String(threads) }),
      ...options.env,
    };
    const replica = await ReplicaProcess.start({ uri: checkpoint, engine: { maxNumSeqs }, env });
    await replica.ready();
    const watch = new ServerWatch(replica.url, replica.child.pid ?? NaN);
    // The metrics' own connection is open from now on.
    await watch.metrics();
    return new LoadReplica(replica, watch, accounting, watch.sockets);
  }

  get url(): string {
    return this.replica.url;
  }

  get port(): number {
    return Number(new URL(this.replica.url).port);
  }

  get isRunning(): boolean {
    return this.replica.child.exitCode === null && this.replica.child.signalCode === null;
  }

  /** Of the server and all processes that it started. */
  get residentBytes(): number {
    const server = this.replica.child.pid ?? NaN;
    return processTree(server).reduce((total, pid) => total + bytesOrNone(pid), 0);
  }

  /** The most that one process of each kind holds now, by the script that it runs. */
  get residentByScript(): ReadonlyMap<string, number> {
    const largest = new Map<string, number>();
    for (const pid of processTree(this.replica.child.pid ?? NaN)) {
      const script = scriptOf(pid);
      if (script === null) continue;
      largest.set(script, Math.max(largest.get(script) ?? 0, bytesOrNone(pid)));
    }
    return largest;
  }

  /**
   * What is not as it was before the load, once all that was asked has ended: running and waiting requests, KV blocks,
   * sockets, errors in the log, tokens that do not add up. Empty when all is well.
   */
  async faultsAfterLoad(seen: readonly Seen[]): Promise<string[]> {
    if (!this.isRunning) return ['the server has ended'];
    const faults: string[] = [];
    const settles = async (what: string, probe: () => Promise<boolean> | boolean): Promise<void> => {
      await eventually(what, probe, 30_000).catch((error: unknown) => faults.push((error as Error).message));
    };
    await settles('the requests to end', async () => (await this.replica.health()).engine?.inFlight === 0);
    // The engine reports its blocks with its steps: this one is the last.
    const last = await this.replica.post('/v1/completions', {
      prompt: 'The',
      max_tokens: 1,
      ...{ return_token_ids: true },
    });
    if (last.status !== 200) faults.push(`the server answers ${String(last.status)} after the load`);
    await last.text();
    await settles('the sockets to close', () => this.watch.sockets <= this.socketsAtRest + 1);
    await settles('the accounting log', async () => {
      const generated = await this.watch.metric('vllm:generation_tokens_total');
      return disagreements(seen, readAccounting(this.accounting), generated).length === 0;
    });
    const metrics = await this.watch.metrics();
    for (const name of [
      'vllm:num_requests_running',
      'vllm:num_requests_waiting',
      'llmservice_kv_blocks_used',
      'llmservice_engine_restarts_total',
    ]) {
      if (valueOf(metrics, name) !== 0) faults.push(`${name} is ${String(valueOf(metrics, name))}, not 0`);
    }
    const generated = valueOf(metrics, 'vllm:generation_tokens_total');
    faults.push(...disagreements(seen, readAccounting(this.accounting), generated).slice(0, 10));
    return [...faults, ...this.errorsInLog];
  }

  async stop(): Promise<void> {
    await this.replica.stop();
    rmSync(this.accounting, { recursive: true, force: true });
  }

  private get errorsInLog(): string[] {
    const isError = (line: string): boolean =>
      line.includes('"level":"error"') || /unhandled|uncaught|^ {4}at /i.test(line);
    return this.replica.log.split('\n').filter(isError).slice(0, 10);
  }
}

/** None: it has ended meanwhile. */
function bytesOrNone(pid: number): number {
  try {
    return residentBytes(pid);
  } catch {
    return 0;
  }
}
