// The pull against a real S3 server: every broken checkpoint by its own reason, resume, and an S3 that goes away.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FailureError } from '@llmservice/crds';
import type { UnavailableError } from '../../runtime/src/weights/checkpoint-source.js';
import { obtainCheckpoint, type ObtainOptions } from '../../runtime/src/weights/obtain-checkpoint.js';
import { llamaCheckpoint, safetensors } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { S3Server, s3Keys } from './s3-server.js';

const bucket = 'models';
let s3: S3Server;
let weightsDir: string;
let pulls: AbortController;

beforeAll(async () => {
  s3 = await S3Server.start();
}, 300_000);
afterAll(() => s3.stop());
jest.setTimeout(60_000);
beforeEach(() => {
  pulls = new AbortController();
  weightsDir = mkdtempSync(join(tmpdir(), 'llmservice-weights-'));
});
afterEach(() => {
  pulls.abort();
  rmSync(weightsDir, { recursive: true, force: true });
});

/** Hears what a pull says of itself. */
class Recorder {
  received_: number[] = [];
  begun: [number, number] | null = null;
  outages: string[] = [];
  back = 0;
  onReceived: (total: number) => void = () => undefined;

  begin(done: number, total: number): void {
    this.begun = [done, total];
  }
  received(bytes: number): void {
    this.received_.push(bytes);
    this.onReceived(this.bytes);
  }
  alive(): void {
    // Hashing is not looked at here.
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

/** The folder, once all is there and verified. */
async function pull(
  prefix: string,
  change: Partial<ObtainOptions> = {},
  recorder = new Recorder(),
): Promise<string> {
  const { dir, arrivals, verified } = await obtainCheckpoint({
    uri: `s3://${bucket}/${prefix}/`,
    headUri: null,
    weightsDir,
    s3: {
      endpoint: s3.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: s3Keys,
      caCertificates: [],
    },
    observer: recorder,
    signal: pulls.signal,
    sleep: (ms) => sleep(Math.min(ms, 200)),
    ...change,
  });
  await verified.finally(() => arrivals?.close());
  return dir;
}

async function failureOf(pulled: Promise<string>): Promise<FailureError> {
  const error = await pulled.then(
    () => new Error('the pull succeeded'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof FailureError)) throw error;
  return error;
}

/** A checkpoint with one large shard of random bytes, so that digests and resumption mean something. */
function largeCheckpoint(rows: number): Record<string, string | Uint8Array> {
  const weights = Buffer.from(
    safetensors({ 'model.embed_tokens.weight': { dtype: 'BF16', shape: [rows, 1024] } }),
  );
  randomBytes(rows * 2048).copy(weights, weights.byteLength - rows * 2048);
  const { 'config.json': config, 'tokenizer.json': tokenizer } = llamaCheckpoint();
  return { 'config.json': config!, 'tokenizer.json': tokenizer!, 'model.safetensors': weights };
}

/** Writes until the disk has no byte left. */
function fillDisk(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(2 ** 16));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

const sha = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('a pull', () => {
  test('brings every needed file, byte for byte, and nothing else', async () => {
    const files = { ...llamaCheckpoint(), 'chat_template.jinja': 'x' };
    s3.put(bucket, 'whole', { ...files, 'README.md': 'no', 'original/consolidated.pth': 'no' });
    const dir = await pull('whole');
    const pulled = readdirSync(dir).filter((name) => !name.startsWith('.'));
    expect(pulled.sort()).toEqual(Object.keys(files).sort());
    for (const [name, content] of Object.entries(files))
      expect(sha(readFileSync(join(dir, name)))).toBe(sha(content));
  });

  test('is not repeated by a second process', async () => {
    s3.put(bucket, 'again', llamaCheckpoint());
    await pull('again');
    const recorder = new Recorder();
    await pull('again', {}, recorder);
    expect(recorder.bytes).toBe(0);
    expect(recorder.begun?.[0]).toBe(recorder.begun?.[1]);
  });

  test('fetches anew what was replaced', async () => {
    const first = largeCheckpoint(64);
    s3.put(bucket, 'replaced', first);
    await pull('replaced');
    const second = { ...first, 'model.safetensors': largeCheckpoint(64)['model.safetensors']! };
    // This server tells versions apart by their time, in whole seconds.
    await sleep(1_100);
    s3.put(bucket, 'replaced', second);
    const dir = await pull('replaced');
    expect(sha(readFileSync(join(dir, 'model.safetensors')))).toBe(sha(second['model.safetensors']));
  });

  test('goes on when S3 comes back, without fetching finished ranges twice', async () => {
    const files = largeCheckpoint(48 * 1024);
    s3.put(bucket, 'outage', files);
    const recorder = new Recorder();
    const paused: Promise<void>[] = [];
    recorder.onReceived = (bytes) => {
      if (bytes > 20e6 && paused.length === 0) paused.push(s3.pause());
    };
    const pulled = pull('outage', {}, recorder);
    await eventually('the pull to notice the outage', () => recorder.outages.length > 0);
    await Promise.all(paused);
    expect(recorder.bytes).toBeLessThan(96 * 1024 * 1024);
    await s3.resume();
    const dir = await pulled;
    expect(recorder.back).toBeGreaterThan(0);
    expect(sha(readFileSync(join(dir, 'model.safetensors')))).toBe(sha(files['model.safetensors']!));
  }, 60_000);

  test('waits for an S3 that is not there yet', async () => {
    s3.put(bucket, 'late', llamaCheckpoint());
    await s3.pause();
    const recorder = new Recorder();
    const pulled = pull('late', {}, recorder);
    await eventually('two attempts', () => recorder.outages.length >= 2);
    await s3.resume();
    expect(readdirSync(await pulled)).toContain('config.json');
  });

  test('holds little memory however large the file', async () => {
    s3.put(bucket, 'large', largeCheckpoint(256 * 1024));
    let highest = 0;
    const recorder = new Recorder();
    const before = process.memoryUsage().arrayBuffers;
    recorder.onReceived = () => {
      highest = Math.max(highest, process.memoryUsage().arrayBuffers - before);
    };
    await pull('large', {}, recorder);
    expect(recorder.bytes).toBeGreaterThan(512 * 1024 * 1024);
    expect(highest).toBeLessThan(256 * 1024 * 1024);
  }, 120_000);
});

describe('a checkpoint that cannot serve', () => {
  const without = (name: string): Record<string, string | Uint8Array> => {
    return Object.fromEntries(Object.entries(llamaCheckpoint()).filter(([each]) => each !== name));
  };
  const shard = 'model-00002-of-00002.safetensors';
  const broken = (bytes: Uint8Array): Record<string, string | Uint8Array> => ({
    ...llamaCheckpoint(),
    [shard]: bytes,
  });
  const good = llamaCheckpoint()[shard] as Uint8Array;

  test.each([
    [
      'an unknown model_type',
      llamaCheckpoint({ model_type: 'mamba' }),
      'UnsupportedArchitecture',
      'supported: llama',
    ],
    ['no config.json', { 'model.bin': 'x' }, 'ModelNotFound', 'found only model.bin'],
    ['a GGUF file that is none', { 'model.gguf': 'x' }, 'CheckpointCorrupt', 'model.gguf'],
    ['two GGUF files', { 'a.gguf': 'x', 'b.gguf': 'x' }, 'CheckpointIncomplete', 'for example a.gguf'],
    ['no tokenizer', without('tokenizer.json'), 'TokenizerMissing', 'tokenizer.json'],
    ['a missing shard', without(shard), 'CheckpointIncomplete', shard],
    ['a truncated shard', broken(good.slice(0, good.length - 7)), 'CheckpointIncomplete', 'cut short'],
    [
      'a shard with bytes to spare',
      broken(Buffer.concat([good, Buffer.from('x')])),
      'CheckpointCorrupt',
      shard,
    ],
    [
      'a corrupt header',
      broken(Buffer.concat([good.slice(0, 8), Buffer.from('not json'), good.slice(16)])),
      'CheckpointCorrupt',
      shard,
    ],
    [
      'a header length beyond the file',
      broken(Buffer.concat([Buffer.alloc(8, 0x7f), good.slice(8)])),
      'CheckpointCorrupt',
      shard,
    ],
    ['an empty shard', broken(new Uint8Array(0)), 'CheckpointCorrupt', shard],
    [
      'a shard without its tensor',
      broken(safetensors({ other: { dtype: 'F32', shape: [1] } })),
      'CheckpointIncomplete',
      'model.norm.weight',
    ],
  ])('with %s', async (name, files, reason, message) => {
    const prefix = `broken/${name.replaceAll(' ', '-')}`;
    s3.put(bucket, prefix, files);
    const recorder = new Recorder();
    const failure = await failureOf(pull(prefix, {}, recorder));
    expect([failure.reason, failure.message]).toEqual([reason, expect.stringContaining(message)]);
    // Told before any weight was fetched.
    expect(recorder.begun).toBeNull();
  });

  test('where nothing lies under the prefix', async () => {
    expect((await failureOf(pull('nowhere'))).reason).toBe('ModelNotFound');
  });

  test('in a bucket that does not exist', async () => {
    const failure = await failureOf(pull('x', { uri: 's3://no-such-bucket/x/' }));
    expect(failure.reason).toBe('BucketNotFound');
  });

  test.each([
    ['a wrong secret', { ...s3Keys, secretAccessKey: 'wrong' }],
    ['an unknown key', { ...s3Keys, accessKeyId: 'nobody' }],
    ['no key', null],
  ])('behind %s', async (_, credentials) => {
    s3.put(bucket, 'private', llamaCheckpoint());
    const settings = {
      endpoint: s3.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials,
      caCertificates: [],
    };
    expect((await failureOf(pull('private', { s3: settings }))).reason).toBe('S3AccessDenied');
  });

  test('on a disk that is too small', async () => {
    const { bavail, bsize } = statfsSync(weightsDir);
    const header = JSON.stringify({
      w: { dtype: 'U8', shape: [bavail * bsize * 2], data_offsets: [0, bavail * bsize * 2] },
    });
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    s3.putSparse(
      bucket,
      'huge',
      'model.safetensors',
      Buffer.concat([length, Buffer.from(header)]),
      8 + header.length + bavail * bsize * 2,
    );
    s3.put(bucket, 'huge', { 'config.json': llamaCheckpoint()['config.json']!, 'tokenizer.json': '{}' });
    const failure = await failureOf(pull('huge'));
    expect([failure.reason, failure.message]).toEqual(['WeightsDiskFull', expect.stringContaining('free')]);
  });

  test('on a disk that fills up during the pull; with room again, only the rest is fetched', async () => {
    const files = largeCheckpoint(24 * 1024);
    s3.put(bucket, 'filling', files);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', weightsDir]);
    try {
      const filler = join(weightsDir, 'filler');
      const recorder = new Recorder();
      recorder.onReceived = (bytes) => {
        if (bytes > 8e6 && !existsSync(filler)) fillDisk(filler);
      };
      const failure = await failureOf(pull('filling', {}, recorder));
      expect([failure.reason, failure.message]).toEqual([
        'WeightsDiskFull',
        expect.stringContaining('still needs'),
      ]);
      rmSync(filler);
      const again = new Recorder();
      const dir = await pull('filling', {}, again);
      expect(again.begun?.[0]).toBeGreaterThan(0);
      expect(sha(readFileSync(join(dir, 'model.safetensors')))).toBe(sha(files['model.safetensors']!));
    } finally {
      execFileSync('umount', [weightsDir]);
    }
  });

  test('in a local folder that is not there', async () => {
    expect((await failureOf(pull('', { uri: '/no/such/folder' }))).reason).toBe('ModelNotFound');
  });
});
