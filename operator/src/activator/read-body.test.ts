import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { readBody } from './read-body.js';

/** Room for so many bytes, and the most that were taken. */
class TestRoom {
  taken = 0;
  most = 0;

  constructor(private readonly bytes: number) {}

  takeBytes(count: number): boolean {
    if (this.taken + count > this.bytes) return false;
    this.taken += count;
    this.most = Math.max(this.most, this.taken);
    return true;
  }

  giveBytes(count: number): void {
    this.taken -= count;
  }
}

/** Chunks of one byte; each is overwritten once it was read, so that who keeps them has them wrong. */
function ofBytes(count: number, headers: Record<string, string> = {}): IncomingMessage {
  async function* chunks(): AsyncGenerator<Buffer> {
    const chunk = Buffer.alloc(1);
    for (let at = 0; at < count; at += 1) {
      chunk[0] = at;
      yield await Promise.resolve(chunk);
    }
    chunk[0] = 0xff;
  }
  return { headers, iterator: chunks, resume: () => undefined } as unknown as IncomingMessage;
}

describe('a body', () => {
  test.each<[string, Record<string, string>]>([
    ['chunked', {}],
    ['of a length that is known', { 'content-length': '1000' }],
  ])('%s is copied, and takes the room of its bytes', async (_, headers) => {
    const room = new TestRoom(2000);
    const body = await readBody(ofBytes(1000, headers), room, 1e6);
    expect(body).toEqual(Buffer.from(Array.from({ length: 1000 }, (__, at) => at & 0xff)));
    expect([room.taken, room.most <= 1024]).toEqual([1000, true]);
  });

  test('chunked gets the last of the room', async () => {
    const room = new TestRoom(1000);
    expect((await readBody(ofBytes(1000), room, 1e6)).byteLength).toBe(1000);
    expect([room.taken, room.most]).toEqual([1000, 1000]);
  });

  test('of no bytes is none', async () => {
    const room = new TestRoom(0);
    expect([(await readBody(ofBytes(0), room, 10)).byteLength, room.taken]).toEqual([0, 0]);
  });

  test.each([
    ['request_too_large', 1e6, 500],
    ['queue_full', 500, 1e6],
  ])('that is refused as %s gives its room back', async (code, bytes, most) => {
    const room = new TestRoom(bytes);
    await expect(readBody(ofBytes(1000), room, most)).rejects.toMatchObject({ code });
    expect(room.taken).toBe(0);
  });
});
