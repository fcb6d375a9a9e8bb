// Replicas that load a checkpoint from S3 through a gate, which can hold back the piece that the engine reads last.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFiles } from '../builders/files.js';
import { settled } from '../processes.js';
import { ReplicaProcess } from './replica-process.js';
import { S3Gate, type S3Read } from './s3-gate.js';
import { S3Server, s3Environment } from './s3-server.js';
import { earlyLayers, lateLayers, shardedCheckpoint, type ShardedCheckpoint } from './sharded-checkpoint.js';

export const MiB = 2 ** 20;

/** The size that the runtime pulls in. */
export const pieceBytes = 16 * MiB;

interface ServeOptions {
  readonly tensor?: number;
  readonly drainTimeoutSeconds?: number;
  readonly noProgressTimeoutSeconds?: number;
  readonly env?: NodeJS.ProcessEnv;
}

export class LoadingWorld {
  private replica: ReplicaProcess | null = null;

  private constructor(
    readonly checkpoint: ShardedCheckpoint,
    /** The checkpoint in a local folder. */
    readonly folder: string,
    readonly s3: S3Server,
    private current: S3Gate,
  ) {}

  static async start(): Promise<LoadingWorld> {
    const checkpoint = shardedCheckpoint();
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-loading-'));
    writeFiles(folder, checkpoint.files);
    const s3 = await S3Server.start();
    s3.put('models', 'sharded', checkpoint.files);
    return new LoadingWorld(checkpoint, folder, s3, await S3Gate.start(s3.endpoint));
  }

  get gate(): S3Gate {
    return this.current;
  }

  /** After each test: no replica, and a gate that has seen nothing. */
  async reset(): Promise<void> {
    await this.replica?.stop();
    this.replica = null;
    this.current.stop();
    this.current = await S3Gate.start(this.s3.endpoint);
  }

  async stop(): Promise<void> {
    await this.replica?.stop();
    this.current.stop();
    await this.s3.stop();
    rmSync(this.folder, { recursive: true });
  }

  bytesOf(file: string): number {
    return this.checkpoint.files[file]!.byteLength;
  }

  /** The end of the last layer, and the final norm. */
  readonly isLast = ({ file, end }: S3Read): boolean =>
    file === lateLayers && end === this.bytesOf(lateLayers);

  async serve(options: ServeOptions = {}): Promise<ReplicaProcess> {
    const env = { ...s3Environment, ...options.env };
    const uri = 's3://models/sharded/';
    this.replica = await ReplicaProcess.start({ uri, endpoint: this.gate.endpoint, ...options, env });
    return this.replica;
  }

  /** Bytes of the piece that `isLast` names. */
  get lastPieceBytes(): number {
    return this.bytesOf(lateLayers) % pieceBytes;
  }

  /** The same with the last piece held back, once all others are there and the engine can do nothing more without it. */
  async serveButForTheLast(options: ServeOptions = {}): Promise<ReplicaProcess> {
    this.gate.holds = this.isLast;
    const replica = await this.serve(options);
    // Stored bytes of all layers but the last, of which rank 0 reads its share; what precedes the missing piece of that
    // one may be in memory too.
    const stored = this.bytesOf(earlyLayers) + this.bytesOf(lateLayers);
    const enough = (stored * (5 / 6) - 4 * MiB) / (options.tensor ?? 1);
    await replica.eventually('the engine to load what is there', async () => {
      const { pulled = null, loaded = null } = (await replica.health()).load ?? {};
      if (pulled === null || loaded === null) return false;
      const isPulled = pulled.bytesDone === pulled.bytesTotal - this.lastPieceBytes;
      return this.gate.held === 1 && isPulled && loaded.bytesDone > enough;
    });
    // A piece is noted on disk after it is given to the engine.
    await settled('what is loaded', async () => (await replica.health()).load?.loaded);
    return replica;
  }

  /** What a replica answers that loads the same files from a folder. */
  async expectedAnswer(tensor = 1): Promise<string> {
    const plain = await ReplicaProcess.start({ uri: this.folder, tensor });
    try {
      await plain.ready();
      return await answer(plain);
    } finally {
      await plain.stop();
    }
  }
}

/** Logprobs of a greedy completion: any value of any weight changes them. */
export async function answer(replica: ReplicaProcess): Promise<string> {
  const asked = { prompt: [1, 2, 3, 4, 5], max_tokens: 24, temperature: 0, logprobs: 1 };
  const response = await replica.post('/v1/completions', asked);
  if (response.status !== 200) throw new Error(await response.text());
  const { choices } = (await response.json()) as { choices: { logprobs: { token_logprobs: number[] } }[] };
  return JSON.stringify(choices[0]!.logprobs.token_logprobs);
}
