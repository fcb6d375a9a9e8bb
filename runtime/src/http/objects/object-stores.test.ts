// Stores of objects: the same in memory and in a bucket.

import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { describe, expect, test } from '@jest/globals';
import { MemoryObjectStore } from './memory-object-store.js';
import { asJson, jsonOf, type ObjectStore } from './object-store.js';
import { S3ObjectStore } from './s3-object-store.js';

/** A bucket in memory, whose listings have pages of two. */
class Bucket {
  readonly objects = new Map<string, { readonly body: Buffer; readonly etag: string }>();
  isAway = false;
  hasConditions = true;
  #writes = 0;

  readonly send = ((command: unknown) =>
    Promise.resolve().then(() => this.#answer(command))) as S3Client['send'];

  #answer(command: unknown): unknown {
    if (this.isAway) throw new Error('connect ECONNREFUSED 10.0.0.1');
    if (command instanceof PutObjectCommand) return this.#put(command.input);
    if (command instanceof DeleteObjectCommand) {
      this.objects.delete(command.input.Key!);
      return {};
    }
    if (command instanceof GetObjectCommand || command instanceof HeadObjectCommand) {
      const object = this.objects.get(command.input.Key!);
      if (object === undefined) throw named('NoSuchKey');
      const { body, etag: ETag } = object;
      const Body = { transformToByteArray: () => Promise.resolve(body) };
      return { Body, ETag, ContentLength: body.length, LastModified: new Date(7) };
    }
    if (command instanceof ListObjectsV2Command) {
      const { Prefix = '', ContinuationToken = '0' } = command.input;
      const all = [...this.objects.keys()].filter((key) => key.startsWith(Prefix)).sort();
      const end = Number(ContinuationToken) + 2;
      const Contents = all.slice(end - 2, end).map((Key) => ({
        Key,
        Size: this.objects.get(Key)!.body.length,
        LastModified: new Date(7),
      }));
      return { Contents, ...(end < all.length ? { NextContinuationToken: String(end) } : {}) };
    }
    throw new Error('an unknown command');
  }

  #put({ Key = '', Body, IfMatch, IfNoneMatch }: PutObjectCommand['input']): unknown {
    const held = this.objects.get(Key);
    if (this.hasConditions) {
      if (IfNoneMatch !== undefined && held !== undefined) throw named('PreconditionFailed');
      if (IfMatch !== undefined && held === undefined) throw named('NoSuchKey');
      if (IfMatch !== undefined && held?.etag !== IfMatch) throw named('PreconditionFailed');
    }
    this.#writes += 1;
    const etag = `"${String(this.#writes)}"`;
    this.objects.set(Key, { body: Body as Buffer, etag });
    return { ETag: etag };
  }
}

const named = (name: string): Error => Object.assign(new Error(name), { name });
const inBucket = (bucket = new Bucket()): ObjectStore =>
  new S3ObjectStore({ bucket: 'b', prefix: 'svc/', deadlineMs: 20_000, outOfReach: 'away' }, bucket);
const body = (text: string): Buffer => Buffer.from(text);

describe.each<[string, () => ObjectStore]>([
  ['in memory', () => new MemoryObjectStore(() => 7)],
  ['in a bucket', () => inBucket()],
])('%s', (_, make) => {
  test('an object is judged by its size and age before it is read', async () => {
    const store = make();
    await store.put('a', body('123'), 'nothing');
    const head = { bytes: 3, storedAtMs: 7 };
    expect([await store.head('a'), await store.head('b')]).toEqual([head, null]);
    const asked: unknown[] = [];
    const judged = (isWanted: boolean) =>
      store.get('a', (found) => {
        asked.push(found);
        return isWanted;
      });
    expect([await judged(false), (await judged(true))?.body.toString()]).toEqual([null, '123']);
    expect(asked).toEqual([head, head]);
  });

  test('objects are there until they are deleted, and are listed by key', async () => {
    const store = make();
    expect(await store.get('a/1')).toBeNull();
    for (const key of ['a/2', 'a/1', 'a/3', 'b/1']) await store.put(key, body(key), 'anything');
    expect((await store.get('a/1'))!.body.toString()).toBe('a/1');
    expect(await store.list('a/')).toEqual(
      ['a/1', 'a/2', 'a/3'].map((key) => ({ key, bytes: 3, storedAtMs: 7 })),
    );
    await store.delete('a/2');
    await store.delete('a/2');
    expect(await store.get('a/2')).toBeNull();
    expect(await store.list('')).toHaveLength(3);
  });

  test('a write has its condition', async () => {
    const store = make();
    expect(await store.hasConditions()).toBe(true);
    expect(await store.list('')).toEqual([]);
    expect(await store.put('a', body('1'), { etag: '"0"' })).toBeNull();
    const first = await store.put('a', body('1'), 'nothing');
    expect(await store.put('a', body('2'), 'nothing')).toBeNull();
    const second = await store.put('a', body('2'), { etag: first! });
    expect(await store.put('a', body('3'), { etag: first! })).toBeNull();
    expect(await store.get('a')).toMatchObject({ body: body('2'), etag: second });
    await store.delete('a');
    expect(await store.put('a', body('4'), { etag: second! })).toBeNull();
  });

  test('of writers that replace the same object at once, one does', async () => {
    const store = make();
    const etag = (await store.put('a', asJson({ count: 0 }), 'nothing'))!;
    const writes = await Promise.all(
      Array.from({ length: 10 }, (_, count) => store.put('a', asJson({ count }), { etag })),
    );
    expect(writes.filter((written) => written !== null)).toHaveLength(1);
    expect(jsonOf((await store.get('a'))!)).toEqual({
      count: writes.findIndex((written) => written !== null),
    });
  });
});

test('a bucket that ignores conditions is found out, and nothing is left in it', async () => {
  const bucket = new Bucket();
  bucket.hasConditions = false;
  expect(await inBucket(bucket).hasConditions()).toBe(false);
  expect(bucket.objects.size).toBe(0);
});

test('everything lies under the prefix, and an error says nothing of where', async () => {
  const bucket = new Bucket();
  const store = inBucket(bucket);
  await store.put('a', body('1'), 'anything');
  expect([...bucket.objects.keys()]).toEqual(['svc/a']);
  bucket.isAway = true;
  for (const asked of [
    () => store.head('a'),
    () => store.get('a'),
    () => store.put('a', body('1'), 'anything'),
    () => store.delete('a'),
    () => store.list(''),
  ])
    await expect(asked()).rejects.toMatchObject({
      code: 'server_busy',
      message: expect.not.stringContaining('10.0.0.1'),
    });
});
