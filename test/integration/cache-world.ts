// Replicas of one node: each a process of its own, over one folder that weights are cached in, and an S3 server behind a
// gate that counts what is read.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, type CommandResult } from '../processes.js';
import { ReplicaProcess, replicaEnvironment, type ReplicaOptions } from './replica-process.js';
import { LoadingWorld, MiB } from './loading-world.js';
import type { S3Read } from './s3-gate.js';
import { s3Environment } from './s3-server.js';

const pullEntry = fileURLToPath(new URL('../../runtime/dist/pull.js', import.meta.url));

interface StartOptions {
  readonly prefix?: string;
  readonly maxBytes?: number | null;
  /** What the operator would have pinned. */
  readonly pin?: string | null;
  readonly tensor?: number;
}

export class CacheWorld {
  private replicas: ReplicaProcess[] = [];
  private dir = '';

  private constructor(readonly loading: LoadingWorld) {}

  static async start(): Promise<CacheWorld> {
    return new CacheWorld(await LoadingWorld.start());
  }

  /** The folder on the node. */
  get folder(): string {
    return this.dir;
  }

  /** Before each test: an empty cache. */
  begin(): void {
    this.dir = mkdtempSync(join(tmpdir(), 'llmservice-node-'));
  }

  /** After each test: no replica, and a gate that has seen nothing. */
  async end(): Promise<void> {
    for (const replica of this.replicas.splice(0)) await replica.stop();
    await this.loading.reset();
    rmSync(this.dir, { recursive: true, force: true });
  }

  stop(): Promise<void> {
    return this.loading.stop();
  }

  async replica(options: StartOptions = {}): Promise<ReplicaProcess> {
    const replica = await ReplicaProcess.start(this.optionsOf(options));
    this.replicas.push(replica);
    return replica;
  }

  /** As a Job does before pods come. */
  async pullAhead(options: StartOptions = {}): Promise<CommandResult> {
    const env = replicaEnvironment(this.dir, 0, this.optionsOf(options));
    return run(process.execPath, [pullEntry], '', env);
  }

  private optionsOf({
    prefix = 'sharded',
    maxBytes = null,
    pin = null,
    tensor = 1,
  }: StartOptions): ReplicaOptions {
    return {
      uri: `s3://models/${prefix}/`,
      endpoint: this.loading.gate.endpoint,
      tensor,
      cache: { volume: 'hostPath /cache', maxBytes, verify: 'onPull', pins: { model: pin, head: null } },
      env: { ...s3Environment, LLMSERVICE_WEIGHTS_DIR: this.dir },
    };
  }

  /** Names of what the cache holds. */
  entries(): string[] {
    return readdirSync(join(this.dir, 'entries')).sort();
  }

  /** The pin of what was pulled from a prefix, as the operator would have given it. */
  pinOf(prefix: string): string {
    return this.entries()
      .find((name) => name.startsWith(`${prefix}-`))!
      .slice(-16);
  }

  /** Reads of weights, not of headers and small files. */
  get weightReads(): readonly S3Read[] {
    return this.loading.gate.reads.filter(({ begin, end }) => end - begin > MiB);
  }
}
