import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckpointSource, FileVersion } from './checkpoint-source.js';
import { pullFiles } from './pull-files.js';
import { roomIn } from './weights-disk.js';

const digits = Buffer.from('0123456789');
const plain: FileVersion = { name: 'model.safetensors', bytes: 10, etag: '"a-4"', digest: null };

interface Pull {
  readonly file: FileVersion;
  readonly content: Buffer;
  readonly alive: () => void;
  readonly signal: AbortSignal;
}

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pull-'));
});
afterEach(() => rm(dir, { recursive: true }));

const nothing = (): void => undefined;

/** Bytes that were fetched. */
async function pull({
  file = plain,
  content = digits,
  alive = nothing,
  signal = new AbortController().signal,
}: Partial<Pull> = {}): Promise<number> {
  let fetched = 0;
  const source: CheckpointSource = {
    uri: 's3://b/m/',
    list: () => Promise.resolve([file]),
    version: () => Promise.resolve(file),
    // eslint-disable-next-line @typescript-eslint/require-await -- as a source that has it at hand
    read: async function* (_, begin, end) {
      yield content.subarray(begin, end);
    },
  };
  const { arrivals, verified } = await pullFiles({
    source,
    dir,
    checkpoint: { files: [file], headers: new Map() },
    attempt: (read) => read(),
    observer: { begin: nothing, received: (bytes) => (fetched += bytes), alive, elsewhere: nothing },
    signal,
    parallelRanges: 2,
    pieceBytes: Math.ceil(content.length / 3),
    room: roomIn(dir),
    reservedBytes: 0,
  });
  await verified.finally(() => arrivals.close());
  return fetched;
}

test('what an earlier process pulled is not fetched again', async () => {
  expect([await pull(), await pull()]).toEqual([10, 0]);
});

test('what had not been verified when the machine went down is: the journal may be on the disk and the bytes not', async () => {
  await pull();
  const journal = join(dir, '.llmservice-pull.json');
  const text = await readFile(journal, 'utf8');
  const { files } = JSON.parse(text.replace('"verified":true', '"verified":false')) as { files: object };
  await writeFile(journal, JSON.stringify({ boot: 'another', files }));
  await writeFile(join(dir, plain.name), Buffer.alloc(plain.bytes));
  expect(await pull()).toBe(10);
  expect(await readFile(join(dir, plain.name))).toEqual(digits);
});

test('a verification ends with the pull', async () => {
  const stopping = new AbortController();
  const content = Buffer.alloc(8 * 2 ** 20);
  const digest = { algorithm: 'md5', hex: createHash('md5').update(content).digest('hex') } as const;
  const file = { ...plain, bytes: content.length, digest };
  let chunks = 0;
  const alive = (): void => {
    chunks += 1;
    stopping.abort();
  };
  const pulled = pull({ file, content, alive, signal: stopping.signal });
  await expect(pulled).rejects.toMatchObject({ name: 'AbortError' });
  expect(chunks).toBe(1);
});
