// Pulls into a folder of each test's own, from a real S3 server or another store, and what a pull says of itself.

import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FailureError } from '@llmservice/crds';
import type { UnavailableError } from '../../runtime/src/weights/checkpoint-source.js';
import { obtainCheckpoint, type ObtainOptions } from '../../runtime/src/weights/obtain-checkpoint.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { bf16Tensor, safetensors } from '../builders/safetensors.js';
import { S3Server, s3Keys } from './s3-server.js';

export class PullWorld {
  private pulls = new AbortController();
  private dir = '';

  private constructor(readonly s3: S3Server) {}

  static async start(): Promise<PullWorld> {
    return new PullWorld(await S3Server.start());
  }

  /** Where this test's pulls put their files. */
  get weightsDir(): string {
    return this.dir;
  }

  /** How the S3 server is reached by who may read all of it. */
  get access(): ObtainOptions['stores']['s3'] {
    return {
      endpoint: this.s3.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: s3Keys,
      caCertificates: [],
    };
  }

  /** Before each test: an empty folder. */
  begin(): void {
    this.pulls = new AbortController();
    this.dir = mkdtempSync(join(tmpdir(), 'llmservice-weights-'));
  }

  /** After each test: no pull runs on. */
  end(): void {
    this.pulls.abort();
    rmSync(this.dir, { recursive: true, force: true });
  }

  stop(): Promise<void> {
    return this.s3.stop();
  }

  /** Puts a checkpoint where `pull(prefix)` looks for it. */
  put(prefix: string, files: Readonly<Record<string, string | Uint8Array>>): void {
    this.s3.put('models', prefix, files);
  }

  /** The folder, once all is there and verified. */
  async pull(
    prefix: string,
    change: Partial<ObtainOptions> = {},
    recorder = new Recorder(),
  ): Promise<string> {
    const { dir, arrivals, verified } = await obtainCheckpoint({
      uri: `s3://models/${prefix}/`,
      head: null,
      pins: { model: null, head: null },
      cache: null,
      weightsDir: this.weightsDir,
      stores: { s3: this.access, ...nobodys },
      allowedUris: [],
      observer: recorder,
      signal: this.pulls.signal,
      sleep: (ms) => sleep(Math.min(ms, 200)),
      ...change,
    });
    await verified.finally(() => arrivals?.close());
    return dir;
  }
}

/** Never asked. */
export const nobodys: Omit<ObtainOptions['stores'], 's3'> = {
  hub: { endpoint: 'http://127.0.0.1:1', token: null, caCertificates: [] },
  oci: { plainHttp: false, dockerConfig: null, caCertificates: [] },
  list: { token: null, caCertificates: [] },
};

/** Hears what a pull says of itself. */
export class Recorder {
  received_: number[] = [];
  begun: [number, number] | null = null;
  outages: string[] = [];
  back = 0;
  waits = 0;
  onReceived: (total: number) => void = () => undefined;

  begin(done: number, total: number): void {
    this.begun = [done, total];
  }
  received(bytes: number): void {
    this.received_.push(bytes);
    this.onReceived(this.bytes);
  }
  alive(): void {
    // Hashing is not measured here.
  }
  elsewhere(): void {
    this.waits += 1;
  }
  unavailable(error: UnavailableError): void {
    this.outages.push(error.message);
  }
  available(): void {
    if (this.outages.length > 0) this.back += 1;
  }
  get bytes(): number {
    return this.received_.reduce((sum, bytes) => sum + bytes, 0);
  }
}

export async function failureOf(pulled: Promise<string>): Promise<FailureError> {
  const error = await pulled.then(
    () => new Error('the pull succeeded'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof FailureError)) throw error;
  return error;
}

/** A checkpoint with one large shard of random bytes, so that digests and resumption mean something. */
export function largeCheckpoint(rows: number): Record<string, string | Uint8Array> {
  const weights = Buffer.from(safetensors({ 'model.embed_tokens.weight': bf16Tensor(rows, 1024) }));
  randomBytes(rows * 2048).copy(weights, weights.byteLength - rows * 2048);
  const { 'config.json': config, 'tokenizer.json': tokenizer } = llamaCheckpoint();
  return { 'config.json': config!, 'tokenizer.json': tokenizer!, 'model.safetensors': weights };
}

export const sha = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** S3 that nobody is to ask. */
const noS3: ObtainOptions['stores']['s3'] = {
  ...{ endpoint: 'http://127.0.0.1:1', region: 'us-east-1', forcePathStyle: true },
  ...{ credentials: null, caCertificates: [] },
};

/** Pulls from another store than S3. @returns the checkpoint's folder, once its files are verified */
export async function pullFrom(
  stores: Partial<ObtainOptions['stores']>,
  {
    cache = null,
    ...wanted
  }: Pick<ObtainOptions, 'uri' | 'weightsDir' | 'observer' | 'signal'> &
    Partial<Pick<ObtainOptions, 'cache'>>,
): Promise<string> {
  const { dir, arrivals, verified, kept } = await obtainCheckpoint({
    ...wanted,
    ...{ head: null, pins: { model: null, head: null }, cache, allowedUris: [] },
    stores: { ...nobodys, s3: noS3, ...stores },
    sleep: (ms) => sleep(Math.min(ms, 50)),
  });
  await verified.finally(() => arrivals?.close());
  await kept;
  return dir;
}
