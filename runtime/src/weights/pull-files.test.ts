import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckpointSource } from './checkpoint-source.js';
import { pullFiles } from './pull-files.js';
import { roomIn } from './weights-disk.js';

const content = Buffer.from('0123456789');
const file = { name: 'model.safetensors', bytes: content.length, etag: '"a-4"', digest: null };
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pull-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** Bytes that were fetched. */
async function pull(): Promise<number> {
  let fetched = 0;
  const nothing = (): void => undefined;
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
    observer: { begin: nothing, received: (bytes) => (fetched += bytes), alive: nothing, elsewhere: nothing },
    signal: new AbortController().signal,
    parallelRanges: 2,
    pieceBytes: 4,
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
  await writeFile(join(dir, file.name), Buffer.alloc(file.bytes));
  expect(await pull()).toBe(10);
  expect(await readFile(join(dir, file.name))).toEqual(content);
});
