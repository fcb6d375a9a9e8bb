import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readListError } from '@llmservice/crds';
import type { StoreHttpError } from '../http/http-client.js';
import { ListByteSource } from './list-byte-source.js';
import { bindListToken } from './list-token.js';

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

describe('the token', () => {
  const own = 'https://h/files.json';

  /** URLs that were asked with it. */
  async function sentTo(uri: string, modelUri: string, answer: (url: URL) => Response): Promise<string[]> {
    const sent: string[] = [];
    const fetch = (url: URL, { headers }: { headers: Record<string, string> }): Promise<Response> => {
      if (headers['authorization'] === 'Bearer t') sent.push(url.href);
      return Promise.resolve(answer(url));
    };
    const source = new ListByteSource(
      { token: bindListToken('t', modelUri), fetch },
      { ...place, list: uri },
    );
    await source.open('m.gguf', 0, 2);
    return sent;
  }
  const listOr =
    (answer: (url: URL) => Response, resource = {}) =>
    (url: URL): Response =>
      url.pathname === '/files.json'
        ? new Response(
            JSON.stringify({
              resources: [{ name: 'm.gguf', path: 'm.gguf', bytes: 7, hash, ...resource }],
            }),
          )
        : answer(url);
  const to = (location: string) => new Response(null, { status: 302, headers: { location } });

  test('goes to the origin of the list that is the model, and to no other list', async () => {
    const served = listOr(() => partial('0-1/7'));
    expect(await sentTo(own, own, served)).toEqual([own, 'https://h/m.gguf']);
    for (const modelUri of ['https://other/files.json', 'https://h:8443/files.json', 's3://h/files.json'])
      expect(await sentTo(own, modelUri, served)).toEqual([]);
  });

  test('is not sent once another origin was asked, even if that leads back', async () => {
    const led = (url: URL) => (url.host === 'cdn' ? to('https://h/chosen') : partial('0-1/7'));
    const redirected = (url: URL) => (url.pathname === '/m.gguf' ? to('https://cdn/m') : led(url));
    expect(await sentTo(own, own, listOr(redirected))).toEqual([own, 'https://h/m.gguf']);
    expect(await sentTo(own, own, listOr(led, { path: 'https://cdn/m' }))).toEqual([own]);
  });

  test('of a list without TLS is refused before anything is asked', async () => {
    const uri = 'http://h/files.json';
    const modelUri = `${uri}@sha256:${'0'.repeat(64)}`;
    const never = (): Response => {
      throw new Error('asked');
    };
    await expect(sentTo(uri, modelUri, never)).rejects.toMatchObject({ code: 'InsecureToken' });
  });
});

describe('an answer with a status', () => {
  const failureOf = (answer: (asked: Asked) => Response) =>
    sourceOf(answer)
      .source.open('m.gguf', 0, 2)
      .catch((error: unknown) => [(error as StoreHttpError).code, readListError(error).means]);
  const elsewhere = (status: number) => (asked: Asked) =>
    asked.url.startsWith('https://h/')
      ? new Response(null, { status: 302, headers: { location: 'https://cdn/m' } })
      : new Response(null, { status });

  test.each([
    [400, 'ListAccessDenied', 'ListAccessDenied'],
    [401, 'ListAccessDenied', 'ListAccessDenied'],
    [404, 'CheckpointIncomplete', 'CheckpointIncomplete'],
    [405, 'ListAccessDenied', 'ListAccessDenied'],
    [408, 'ListUnavailable', 'ListUnavailable'],
    [410, 'CheckpointIncomplete', 'CheckpointIncomplete'],
    [425, 'ListUnavailable', 'ListUnavailable'],
    [429, 'ListUnavailable', 'ListUnavailable'],
    [451, 'ListAccessDenied', 'ListAccessDenied'],
    [503, 'ListUnavailable', 'ListUnavailable'],
  ])('%i is %s, behind a redirect %s', async (status, means, behind) => {
    expect(await failureOf(() => new Response(null, { status }))).toContain(means);
    expect(await failureOf(elsewhere(status))).toContain(behind);
  });
});

test('two entries that become one file are refused', async () => {
  const resources = ['config.json', 'fp8/2_Dense/config.json', 'fp8/2_Dense.config.json'].map((path) => ({
    ...{ path, bytes: 7, hash },
  }));
  const fetch = () => Promise.resolve(new Response(JSON.stringify({ resources })));
  const listOf = (folder: string) => new ListByteSource({ token: null, fetch }, { ...place, folder }).list();
  await expect(listOf('fp8/')).rejects.toMatchObject({
    code: 'RepeatedFile',
    message: expect.stringContaining('resources[2] becomes the file of an earlier one'),
  });
  expect(await listOf('')).toHaveLength(1);
});

describe('a list that is published anew while its files are read', () => {
  const longer = JSON.stringify({ resources: [{ path: 'm.gguf', bytes: content.length + 1, hash }] });

  function republished(digest: string | null, second: string) {
    let lists = 0;
    const fetch = (url: URL): Promise<Response> => {
      if (url.pathname !== '/files.json') return Promise.resolve(partial('0-1/8'));
      lists += 1;
      return Promise.resolve(new Response(lists === 1 ? list : second));
    };
    return new ListByteSource({ token: null, fetch }, { ...place, digest });
  }

  test('is read again: the file has changed, and is opened as it is then', async () => {
    const source = republished(null, longer);
    const error: unknown = await source.open('m.gguf', 0, 2).catch((thrown: unknown) => thrown);
    expect(readListError(error).means).toBe('objectChanged');
    expect(await source.list()).toEqual([expect.objectContaining({ bytes: 8 })]);
    expect(await source.open('m.gguf', 0, 2)).toMatchObject({ fileBytes: 8 });
  });

  test('but a file that differs from the list as it is, or from one with a digest, is corrupt', async () => {
    const digest = createHash('sha256').update(list).digest('hex');
    for (const source of [republished(null, list), republished(digest, longer)])
      await expect(source.open('m.gguf', 0, 2)).rejects.toMatchObject({ code: 'SizeDiffers' });
  });
});
