// A page of another origin in a real Chromium, which asks a service with keys through OpenAI's own client, as a chat page does.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { repository } from '../processes.js';
import { entry, Folders } from './keyed-replica.js';
import type { ReplicaProcess } from './replica-process.js';
import { launchBrowser, open } from './ui-page.js';

jest.setTimeout(120_000);

const sdk = join(repository, 'node_modules', 'openai');
const folders = new Folders([entry('a')]);
let pages: Server;
let port: number;
let browser: Browser;
let replica: ReplicaProcess;

beforeAll(async () => {
  pages = await servePages();
  ({ port } = pages.address() as AddressInfo);
  browser = await launchBrowser();
  replica = await folders.start({ LLMSERVICE_CORS_ORIGINS: `http://127.0.0.1:${String(port)}` });
  await replica.ready();
});
afterAll(async () => {
  await browser.close();
  await replica.stop();
  pages.close();
  folders.remove();
});

/** Bundlers replace the client's one module that is not for browsers. */
const replaced = {
  '/internal/auth/x509-transport-state.js': '/internal/auth/x509-transport-state-browser.mjs',
};
const emptyPage =
  '<!doctype html><link rel="icon" href="data:,">' +
  `<script type="importmap">${JSON.stringify({ imports: replaced })}</script>`;

/** An empty page, and the client's modules, which need nothing but a browser. */
async function servePages(): Promise<Server> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (extname(path) !== '.mjs') {
      response.setHeader('content-type', 'text/html').end(emptyPage);
      return;
    }
    readFile(join(sdk, path)).then(
      (module) => response.setHeader('content-type', 'text/javascript').end(module),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return server;
}

/** What a page makes of an answer, of a stream, and of a refusal. */
const asking = (url: string): string => `(async () => {
  const { default: OpenAI } = await import(new URL('/index.mjs', location.href));
  const clientOf = (apiKey) =>
    new OpenAI({ baseURL: '${url}/v1', apiKey, maxRetries: 0, dangerouslyAllowBrowser: true });
  const client = clientOf('sk-a');
  const asked = { model: 'demo', max_tokens: 8, messages: [{ role: 'user', content: 'What is a pod?' }] };
  try {
    const { data, response } = await client.chat.completions.create(asked).withResponse();
    let streamed = '';
    for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }))
      streamed += choices[0]?.delta.content ?? '';
    const refusal = await clientOf('sk-b').models.list().catch(({ status }) => status);
    return { whole: data.choices[0].message.content, id: response.headers.get('x-request-id'), streamed, refusal };
  } catch (error) {
    return error.constructor.name;
  }
})()`;

test('reads answers, streams, refusals and headers where its origin is named', async () => {
  const { page, complaints } = await open(browser, `http://127.0.0.1:${String(port)}/`);
  const seen = await page.evaluate(asking(replica.url));
  expect(seen).toMatchObject({ whole: expect.any(String), id: expect.stringMatching(/./), refusal: 401 });
  const { whole, streamed } = seen as { whole: string; streamed: string };
  expect([whole.length > 0, streamed]).toEqual([true, whole]);
  // The browser's own note of the 401 is not one of the policy.
  expect(complaints.filter((each) => /CORS|policy/i.test(each))).toEqual([]);
  await page.close();
});

test('reads nothing where it is not', async () => {
  const { page, complaints } = await open(browser, `http://localhost:${String(port)}/`);
  expect(await page.evaluate(asking(replica.url))).toBe('APIConnectionError');
  expect(complaints.join('\n')).toContain('has been blocked by CORS policy');
  await page.close();
});
