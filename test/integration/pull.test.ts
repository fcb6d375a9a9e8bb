// Pulls from a real S3 server: what they bring and what they do not fetch twice, with an S3 that goes away and a disk
// that fills up.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ggufFile, llamaGguf } from '../../checkpoint/src/formats/gguf.fixture.js';
import { splitGguf } from '../../checkpoint/src/formats/split-gguf.fixture.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { bf16Tensor, safetensorsHead } from '../builders/safetensors.js';
import { eventually } from '../processes.js';
import { failureOf, largeCheckpoint, PullWorld, Recorder, sha } from './pull-world.js';

let world: PullWorld;
beforeAll(async () => {
  world = await PullWorld.start();
}, 300_000);
beforeEach(() => world.begin());
afterEach(() => world.end());
afterAll(() => world.stop());
jest.setTimeout(120_000);

describe('a pull', () => {
  test('brings every needed file, byte for byte, and nothing else', async () => {
    const files = { ...llamaCheckpoint(), 'chat_template.jinja': 'x' };
    world.put('whole', { ...files, 'README.md': 'no', 'original/consolidated.pth': 'no' });
    const dir = await world.pull('whole');
    const pulled = readdirSync(dir).filter((name) => !name.startsWith('.'));
    expect(pulled.sort()).toEqual(Object.keys(files).sort());
    for (const [name, content] of Object.entries(files))
      expect(sha(readFileSync(join(dir, name)))).toBe(sha(content));
  });

  test('of a gs:// URI brings the same by the same API', async () => {
    const files = llamaCheckpoint();
    world.put('google', files);
    const dir = await world.pull('google', { uri: 'gs://models/google/' });
    for (const [name, content] of Object.entries(files))
      expect(sha(readFileSync(join(dir, name)))).toBe(sha(content));
    const failure = await failureOf(world.pull('google', { uri: 'gs://models/nowhere/' }));
    expect(failure.reason).toBe('ModelNotFound');
    expect(failure.message).toContain('gs://models/nowhere/');
  });

  test('is not repeated by a second process', async () => {
    world.put('again', llamaCheckpoint());
    await world.pull('again');
    const recorder = new Recorder();
    await world.pull('again', {}, recorder);
    expect(recorder.bytes).toBe(0);
    expect(recorder.begun?.[0]).toBe(recorder.begun?.[1]);
  });

  test('of a split GGUF file brings every part, and again only the one that is gone', async () => {
    const parts = splitGguf(ggufFile(llamaGguf()), 'm', 3);
    const [first = '', second = ''] = Object.keys(parts);
    world.put('split', parts);
    const model = await world.pull('split');
    expect(model.endsWith(`/${first}`)).toBe(true);
    const pulled = (name: string): string => sha(readFileSync(join(dirname(model), name)));
    for (const [name, content] of Object.entries(parts)) expect(pulled(name)).toBe(sha(content));
    rmSync(join(dirname(model), second));
    const recorder = new Recorder();
    await world.pull('split', {}, recorder);
    expect(recorder.bytes).toBe(parts[second]!.length);
    expect(pulled(second)).toBe(sha(parts[second]!));
  });

  test('fetches anew what was replaced', async () => {
    const first = largeCheckpoint(64);
    world.put('replaced', first);
    await world.pull('replaced');
    const second = { ...first, 'model.safetensors': largeCheckpoint(64)['model.safetensors']! };
    // This server distinguishes versions by their time, in whole seconds.
    await sleep(1_100);
    world.put('replaced', second);
    const dir = await world.pull('replaced');
    expect(sha(readFileSync(join(dir, 'model.safetensors')))).toBe(sha(second['model.safetensors']));
  });

  test('continues when S3 comes back, without fetching finished ranges twice', async () => {
    const files = largeCheckpoint(48 * 1024);
    world.put('outage', files);
    const recorder = new Recorder();
    const paused: Promise<void>[] = [];
    recorder.onReceived = (bytes) => {
      if (bytes > 20e6 && paused.length === 0) paused.push(world.s3.pause());
    };
    const pulled = world.pull('outage', {}, recorder);
    await eventually('the pull to notice the outage', () => recorder.outages.length > 0);
    await Promise.all(paused);
    expect(recorder.bytes).toBeLessThan(96 * 1024 * 1024);
    await world.s3.resume();
    const dir = await pulled;
    expect(recorder.back).toBeGreaterThan(0);
    expect(sha(readFileSync(join(dir, 'model.safetensors')))).toBe(sha(files['model.safetensors']!));
  }, 120_000);

  test('waits for an S3 that is not there yet', async () => {
    world.put('late', llamaCheckpoint());
    await world.s3.pause();
    const recorder = new Recorder();
    const pulled = world.pull('late', {}, recorder);
    await eventually('two attempts', () => recorder.outages.length >= 2);
    await world.s3.resume();
    expect(readdirSync(await pulled)).toContain('config.json');
  });

  test('holds little memory however large the file', async () => {
    world.put('large', largeCheckpoint(256 * 1024));
    let highest = 0;
    const recorder = new Recorder();
    const before = process.memoryUsage().arrayBuffers;
    recorder.onReceived = () => {
      highest = Math.max(highest, process.memoryUsage().arrayBuffers - before);
    };
    await world.pull('large', {}, recorder);
    expect(recorder.bytes).toBeGreaterThan(512 * 1024 * 1024);
    expect(highest).toBeLessThan(256 * 1024 * 1024);
  }, 120_000);
});

describe('a disk', () => {
  test('that is too small is reported before anything is fetched', async () => {
    const { bavail, bsize } = statfsSync(world.weightsDir);
    const { head, dataBytes } = safetensorsHead({ w: bf16Tensor(bavail * bsize) });
    world.s3.putSparse('models', 'huge', 'model.safetensors', head, head.byteLength + dataBytes);
    world.put('huge', { 'config.json': llamaCheckpoint()['config.json']!, 'tokenizer.json': '{}' });
    const failure = await failureOf(world.pull('huge'));
    expect([failure.reason, failure.message]).toEqual(['WeightsDiskFull', expect.stringContaining('free')]);
  });

  test('that fills up during the pull is reported; with room again, only the rest is fetched', async () => {
    const files = largeCheckpoint(24 * 1024);
    world.put('filling', files);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', world.weightsDir]);
    try {
      const filler = join(world.weightsDir, 'filler');
      const recorder = new Recorder();
      recorder.onReceived = (bytes) => {
        if (bytes > 8e6 && !existsSync(filler)) fillDisk(filler);
      };
      const failure = await failureOf(world.pull('filling', {}, recorder));
      expect([failure.reason, failure.message]).toEqual([
        'WeightsDiskFull',
        expect.stringContaining('still needs'),
      ]);
      rmSync(filler);
      const again = new Recorder();
      const dir = await world.pull('filling', {}, again);
      expect(again.begun?.[0]).toBeGreaterThan(0);
      expect(sha(readFileSync(join(dir, 'model.safetensors')))).toBe(sha(files['model.safetensors']!));
    } finally {
      execFileSync('umount', [world.weightsDir]);
    }
  });
});

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
