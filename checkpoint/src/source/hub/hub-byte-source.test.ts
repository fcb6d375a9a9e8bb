import { expect, test } from '@jest/globals';
import { HubByteSource } from './hub-byte-source.js';

const commit = 'a'.repeat(40);
const place = { repository: 'o/n', revision: commit, folder: '', file: null };

test('a host of storage that is gone is asked once, then the hub says where the file is', async () => {
  const asked: string[] = [];
  let gone = '';
  const fetch = (url: URL): Promise<Response> => {
    asked.push(url.host);
    if (url.host === gone) return Promise.reject(new TypeError('fetch failed'));
    if (url.host !== 'hub') return Promise.resolve(new Response('x', { status: 206 }));
    const location = gone === '' ? 'http://first/m' : 'http://second/m';
    return Promise.resolve(new Response(null, { status: 302, headers: { location } }));
  };
  const source = new HubByteSource({ endpoint: 'http://hub', token: null, fetch }, place);
  const read = (): Promise<unknown> => source.open('m.gguf', 0, 1, null);
  await read();
  await read();
  gone = 'first';
  await expect(read()).rejects.toThrow('fetch failed');
  await read();
  expect(asked).toEqual(['hub', 'first', 'first', 'first', 'hub', 'second']);
});
