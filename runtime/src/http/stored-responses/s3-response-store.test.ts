import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../request/body/api-error.js';
import { S3ObjectStore } from '../objects/s3-object-store.js';
import { outOfReach, S3ResponseStore } from './s3-response-store.js';
import type { StoreLimits } from './store-ledger.js';
import { asker, storedConversation, storedResponse } from './stored-response.fixture.js';
import { StoredConversations } from './stored-conversations.js';

/** A bucket in memory, whose listings have pages of two. */
class Bucket {
  readonly objects = new Map<
    string,
    { readonly text: string; readonly at: number; readonly etag?: string }
  >();
  now = 0;
  isAway = false;
  isSilent = false;
  /** Answers to writes that were made and are not heard of. */
  lostAnswers = 0;
  #writes = 0;

  readonly send = ((command: unknown, { abortSignal }: { readonly abortSignal: AbortSignal }) =>
    this.isSilent
      ? new Promise((_, reject) => abortSignal.addEventListener('abort', () => reject(new Error('aborted'))))
      : Promise.resolve().then(() => this.#answer(command))) as S3Client['send'];

  #answer(command: unknown): unknown {
    if (this.isAway) throw new Error('connect ECONNREFUSED 10.0.0.1');
    if (command instanceof PutObjectCommand) {
      const { Key, Body, IfMatch } = command.input;
      if (IfMatch !== undefined && this.objects.get(Key!)?.etag !== IfMatch)
        throw Object.assign(new Error('it has changed'), { name: 'PreconditionFailed' });
      this.#writes += 1;
      const etag = String(this.#writes);
      this.objects.set(Key!, { text: (Body as Buffer).toString(), at: this.now, etag });
      if (this.lostAnswers-- > 0) throw new Error('socket hang up');
      return {};
    }
    if (command instanceof DeleteObjectCommand) {
      this.objects.delete(command.input.Key!);
      return {};
    }
    if (command instanceof GetObjectCommand || command instanceof HeadObjectCommand) {
      const object = this.objects.get(command.input.Key!);
      if (object === undefined) throw Object.assign(new Error('no such key'), { name: 'NoSuchKey' });
      const { text, at, etag: ETag } = object;
      const Body = { transformToByteArray: () => Promise.resolve(Buffer.from(text)) };
      return { Body, ETag, ContentLength: text.length, LastModified: new Date(at) };
    }
    if (command instanceof ListObjectsV2Command) {
      const { Prefix = '', ContinuationToken = '0' } = command.input;
      const all = [...this.objects].filter(([key]) => key.startsWith(Prefix));
      const end = Number(ContinuationToken) + 2;
      const Contents = all.slice(end - 2, end).map(([Key, { text, at }]) => ({
        Key,
        Size: text.length,
        LastModified: new Date(at),
      }));
      return { Contents, ...(end < all.length ? { NextContinuationToken: String(end) } : {}) };
    }
    throw new Error('an unknown command');
  }
}

const limits: StoreLimits = { maxBytes: 100_000, maxCount: 4, maxAgeMs: 1_000 };
let bucket: Bucket;
let store: S3ResponseStore;
beforeEach(() => {
  bucket = new Bucket();
  store = storeOf(objects());
});
const objects = (deadlineMs = 5_000): S3ObjectStore =>
  new S3ObjectStore({ bucket: 'responses', prefix: 'chat/', deadlineMs, outOfReach }, bucket);
const storeOf = (of: S3ObjectStore): S3ResponseStore => new S3ResponseStore(of, limits, () => bucket.now);

const idOf = (number: number): string => `resp_${number.toString(16).padStart(32, '0')}`;
const has = async (owner: string, number: number): Promise<boolean> =>
  (await store.get(asker(owner), idOf(number))) !== null;

test('what one pod stores, another finds for the same key alone, until it is deleted', async () => {
  expect(await store.put('team a/b', storedResponse(idOf(1)))).toBe(true);
  expect([...bucket.objects.keys()]).toEqual([expect.stringMatching(/^chat\/[0-9a-f]{32}\/resp_0+1\.json$/)]);
  expect(await store.get(asker('team a/b'), idOf(1))).toEqual(storedResponse(idOf(1)));
  expect(await has('other', 1)).toBe(false);
  expect(await store.delete('other', idOf(1))).toBe(false);
  expect(await store.delete('team a/b', idOf(1))).toBe(true);
  expect(bucket.objects.size).toBe(0);
});

test('what is no id of ours is not looked up', async () => {
  bucket.isAway = true;
  for (const id of ['../secret', 'resp_1', `${idOf(1)}/x`])
    expect(await store.get(asker('a'), id)).toBeNull();
});

test('one that takes an eighth of all is not stored', async () => {
  expect(await store.put('a', storedResponse(idOf(1), 'x'.repeat(limits.maxBytes / 8)))).toBe(false);
});

test('a sweep deletes what is too old, and of the key that stores most the oldest', async () => {
  await store.put('old', storedResponse(idOf(0)));
  bucket.now = 500;
  await store.put('quiet', storedResponse(idOf(1)));
  for (let i = 2; i < 8; i++) {
    bucket.now += 1;
    await store.put('loud', storedResponse(idOf(i)));
  }
  bucket.objects.set('chat/notes.txt', { text: 'not ours', at: 0 });
  bucket.now = 1_000;
  expect(await has('old', 0)).toBe(false);
  expect(await store.sweep()).toBe(4);
  expect(await Promise.all([has('quiet', 1), has('loud', 4), has('loud', 5), has('loud', 7)])).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect([...bucket.objects.keys()]).toContain('chat/notes.txt');
});

test('nothing is read that there is no room for', async () => {
  await store.put('a', storedResponse(idOf(1)));
  const take = (bytes: number): void => {
    throw ApiError.of('request_too_large', `${String(bytes)} are too many`);
  };
  const { length } = JSON.stringify(storedResponse(idOf(1)));
  await expect(store.get({ owner: 'a', take }, idOf(1))).rejects.toMatchObject({
    code: 'request_too_large',
    message: `${String(length)} are too many`,
  });
});

test('what is too old is not there to delete', async () => {
  await store.put('a', storedResponse(idOf(1)));
  bucket.now = limits.maxAgeMs;
  expect(await store.delete('a', idOf(1))).toBe(false);
});

test('an S3 that does not answer holds up nobody for long', async () => {
  bucket.isSilent = true;
  store = storeOf(objects(20));
  for (const asked of [store.get(asker('a'), idOf(1)), store.put('a', storedResponse(idOf(1)))])
    await expect(asked).rejects.toMatchObject({ code: 'server_busy' });
});

test('while S3 is away, the error says what to do, and not what S3 said', async () => {
  bucket.isAway = true;
  for (const asked of [
    store.get(asker('a'), idOf(1)),
    store.put('a', storedResponse(idOf(1))),
    store.delete('a', idOf(1)),
  ])
    await expect(asked).rejects.toMatchObject({
      code: 'server_busy',
      message: expect.not.stringContaining('10.0.0.1'),
      retryAfterSeconds: 1,
    });
});

test('whether S3 holds writes to their conditions is asked until it is known', async () => {
  const answers = [Promise.reject(ApiError.of('server_busy', 'away')), Promise.resolve(false)];
  const asked = objects();
  asked.hasConditions = () => answers.shift() ?? Promise.resolve(true);
  store = storeOf(asked);
  await expect(store.hasConditions()).rejects.toMatchObject({ code: 'server_busy' });
  expect([await store.hasConditions(), await store.hasConditions()]).toEqual([false, false]);
  await expect(new StoredConversations(store, () => 0).create('a', [], {})).rejects.toMatchObject({
    code: 'route_not_found',
    message: expect.stringContaining('ignores If-Match'),
  });
});

describe('a conversation', () => {
  const id = `conv_${'0'.repeat(32)}`;
  const said = (content: string) => ({ type: 'message' as const, role: 'user' as const, content });
  const textsIn = async (): Promise<string> => {
    const stored = await store.get(asker('a'), id);
    return JSON.stringify((stored as { items: unknown }).items);
  };
  beforeEach(() => store.put('a', storedConversation(id)));

  test('has all that pods add at the same time', async () => {
    const pods = Array.from({ length: 6 }, () => new StoredConversations(storeOf(objects()), () => 0));
    await Promise.all(pods.map((pod, index) => pod.add(asker('a'), id, [said(`of pod ${String(index)}`)])));
    const texts = await textsIn();
    for (const index of pods.keys())
      expect(texts.match(new RegExp(`of pod ${String(index)}`, 'g'))).toHaveLength(1);
  });

  test('has once what a response adds again, since it did not hear that it was added', async () => {
    const pod = new StoredConversations(store, () => 0);
    bucket.lostAnswers = 1;
    const add = () => pod.append(asker('a'), id, idOf(1), [said('once')]);
    await expect(add()).rejects.toMatchObject({ code: 'server_busy' });
    await add();
    expect((await textsIn()).match(/once/g)).toHaveLength(1);
  });

  test('that is deleted meanwhile does not come back', async () => {
    const changed = store.change(asker('a'), id, (before) => {
      bucket.objects.clear();
      return { ...before, items: [] };
    });
    expect(await changed).toBe('missing');
    expect(bucket.objects.size).toBe(0);
  });

  test('is counted once as what a request refers to, however often it is read to be changed', async () => {
    const sizes: number[] = [];
    let others = 2;
    await store.change({ owner: 'a', take: (bytes) => sizes.push(bytes) }, id, (before) => {
      const [[key, object]] = [...bucket.objects] as [[string, { text: string; at: number }]];
      if (others-- > 0) bucket.objects.set(key, { ...object, etag: `other ${String(others)}` });
      return { ...before, items: [] };
    });
    expect(sizes).toHaveLength(1);
  });
});
