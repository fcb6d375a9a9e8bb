import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ListByteSource } from './list-byte-source.js';

const content = 'weights';
const hash = `sha256:${createHash('sha256').update(content).digest('hex')}`;
const list = JSON.stringify({ resources: [{ path: 'm.gguf', bytes: content.length, hash }] });
const place = { list: 'https://h/files.json', digest: null, folder: '', file: null };

interface Asked {
  readonly url: string;
  readonly range: string | undefined;
}

function sourceOf(answer: (asked: Asked) => Response, bounds = {}) {
  const asked: Asked[] = [];
  const fetch = (url: URL, { headers }: { headers: Record<string, string> }): Promise<Response> => {
    const one = { url: url.href, range: headers['range'] };
    asked.push(one);
    return Promise.resolve(url.pathname === '/files.json' ? new Response(list) : answer(one));
  };
  return { asked, source: new ListByteSource({ token: null, fetch }, place, bounds) };
}

const partial = (range: string, body = 'we') =>
  new Response(body, { status: 206, headers: { 'content-range': `bytes ${range}` } });

test('the list is read once, and ranges end where it says that a file does', async () => {
  const { asked, source } = sourceOf(() => partial('0-6/7', content));
  await source.list();
  const range = await source.open('m.gguf', 0, 1_000);
  expect(range).toMatchObject({ begin: 0, end: 7, fileBytes: 7, etag: hash.slice('sha256:'.length) });
  expect(asked).toEqual([
    { url: 'https://h/files.json', range: undefined },
    { url: 'https://h/m.gguf', range: 'bytes=0-6' },
  ]);
});

describe('an answer that is not of the file that is listed', () => {
  test.each([
    ['a longer one', () => partial('0-1/8')],
    [
      'a whole one of another size',
      () => new Response('weightless', { headers: { 'content-length': '10' } }),
    ],
    ['one that ends before', () => new Response(null, { status: 416 })],
  ])('%s is refused', async (_, answer) => {
    const { source } = sourceOf(answer);
    await expect(source.open('m.gguf', 0, 2)).rejects.toMatchObject({ code: 'SizeDiffers' });
  });
});

test('a whole file for a part is left to its reader, unless ranges are required', async () => {
  const whole = () => new Response(content, { headers: { 'content-length': '7' } });
  expect(await sourceOf(whole).source.open('m.gguf', 2, 4)).toMatchObject({ begin: 0, end: null });
  const required = sourceOf(whole, { ranges: 'required' }).source;
  await expect(required.open('m.gguf', 0, 4)).rejects.toMatchObject({ code: 'RangeNotHonoured' });
  expect(await required.open('m.gguf', 0, 9)).toMatchObject({ begin: 0 });
});

test('addresses of all files are judged before any is asked', async () => {
  const checkAddress = (url: URL): void => {
    throw new Error(`not ${url.href}`);
  };
  const { asked, source } = sourceOf(() => partial('0-1/7'), { checkAddress });
  await expect(source.open('m.gguf', 0, 2)).rejects.toThrow('not https://h/m.gguf');
  expect(asked).toHaveLength(1);
});
