import { beforeEach, expect, test } from '@jest/globals';
import { MemoryObjectStore } from '../objects/memory-object-store.js';
import { bytesOf, fileBody, type StoredFile } from './stored-file.js';
import { partBytes, StoredFiles } from './stored-files.js';
import { sweep } from './sweep.js';

const limits = { maxBytes: 4 * partBytes, maxFileBytes: 3 * partBytes, maxAgeMs: 1_000 };
let now: number;
let objects: MemoryObjectStore;
let files: StoredFiles;
beforeEach(() => {
  now = 1_000;
  objects = new MemoryObjectStore(() => now);
  files = new StoredFiles(objects, limits, () => now);
});

async function store(owner: string, ...pieces: readonly string[]): Promise<StoredFile> {
  const writer = files.begin(owner);
  for (const piece of pieces) await writer.add(Buffer.from(piece));
  return writer.end('in.jsonl', 'batch');
}

async function contentOf({ parts }: StoredFile): Promise<string> {
  const bodies = await Promise.all(parts.map((part) => files.part(part)));
  return Buffer.concat(bodies).toString();
}

test('a file is what was written, in parts', async () => {
  const piece = 'x'.repeat(partBytes / 2 + 1);
  const file = await store('a', piece, piece, piece, 'y');
  expect(file.parts).toHaveLength(2);
  expect(await contentOf(file)).toBe(`${piece}${piece}${piece}y`);
  expect(await files.require('a', file.id)).toEqual(file);
  expect(fileBody(file)).toEqual({
    id: file.id,
    object: 'file',
    bytes: bytesOf(file),
    created_at: 1,
    expires_at: 2,
    filename: 'in.jsonl',
    purpose: 'batch',
    status: 'processed',
    status_details: null,
  });
});

test('an empty file is one', async () => {
  const file = await store('a');
  expect([file.parts, await contentOf(file)]).toEqual([[], '']);
});

test('no owner finds what another stored, and no id that is none is looked up', async () => {
  const { id } = await store('a', 'x');
  for (const [owner, asked] of [
    ['b', id],
    ['', id],
    ['a', '../x'],
    ['a', `${id}.json`],
    ['a', 'file-1'],
  ] as const)
    await expect(files.require(owner, asked)).rejects.toMatchObject({ code: 'file_not_found' });
  await expect(files.delete('b', id)).rejects.toMatchObject({ code: 'file_not_found' });
  expect(await files.ids('b')).toEqual([]);
  expect(await files.ids('a')).toEqual([id]);
});

test('the newest comes first', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    now += 1;
    ids.unshift((await store('a', 'x')).id);
  }
  expect(await files.ids('a')).toEqual(ids);
  expect((await files.existing('a', [...ids, 'file-0'])).map(({ id }) => id)).toEqual(ids);
});

test('what is deleted is gone, with its content and its room', async () => {
  const file = await store('a', 'x'.repeat(1000));
  expect(files.room.bytes).toBe(1000);
  await files.delete('a', file.id);
  expect([await objects.list(''), files.room.bytes]).toEqual([[], 0]);
  await expect(files.part(file.parts[0]!)).rejects.toMatchObject({ code: 'file_not_found' });
});

test('a file that is too large leaves nothing, nor does one that is given up', async () => {
  const writer = files.begin('');
  const piece = Buffer.alloc(partBytes);
  for (let i = 0; i < 3; i++) await writer.add(piece);
  await expect(writer.add(Buffer.alloc(1))).rejects.toMatchObject({ code: 'request_too_large' });
  await writer.abandon();
  expect([await objects.list(''), files.room.bytes]).toEqual([[], 0]);
});

test('beyond the room of all files nothing is stored', async () => {
  await store('', 'x'.repeat(3 * partBytes));
  const writer = files.begin('');
  await writer.add(Buffer.alloc(partBytes));
  await expect(writer.add(Buffer.alloc(partBytes))).rejects.toMatchObject({ code: 'server_busy' });
});

test('what is too old is not found, and is deleted; room is what is left', async () => {
  const old = await store('a', 'old');
  now += limits.maxAgeMs;
  await expect(files.require('a', old.id)).rejects.toMatchObject({ code: 'file_not_found' });
  const young = await store('b', 'young');
  files.room.counted(new Map());
  expect(await sweep(objects, files, now)).toBe(1);
  expect(files.room.bytes).toBe('oldyoung'.length);
  // Its content goes once no batch can need it any more.
  expect(await sweep(objects, files, now + 86_400_000)).toBe(2);
  expect((await objects.list('')).map(({ key }) => key)).toEqual([young.parts[0]!.key]);
});
