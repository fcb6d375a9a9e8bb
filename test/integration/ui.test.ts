// The page at /ui in a real Chromium, at the width of a desk and of a phone: what it shows, the chat, keys, a prefix in
// front of it, and what an accessibility checker says.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { endless } from './streams.js';
import {
  askForLongAnswer,
  chat,
  launchBrowser,
  open,
  serving,
  startGateway,
  violations,
  widths,
} from './ui-page.js';

jest.setTimeout(180_000);

const folder = mkdtempSync(join(tmpdir(), 'llmservice-ui-'));
let browser: Browser;
let replica: ReplicaProcess;

beforeAll(async () => {
  browser = await launchBrowser();
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, engine: { maxModelLen: 4096 } });
  await replica.ready();
});
afterAll(async () => {
  await browser.close();
  await replica.stop();
  rmSync(folder, { recursive: true });
});

describe.each(Object.entries(widths))('at the width of a %s', (_name, viewport) => {
  test('it shows what the server does, answers, and breaks no rule of accessibility', async () => {
    const context = await browser.newContext({ viewport, bypassCSP: true });
    const page = await context.newPage();
    await page.goto(`${replica.url}/ui`);
    await serving(page);
    expect(await page.locator('h1').innerText()).toBe('demo');
    expect(await chat(page, 'What is a partition?')).not.toBe('');
    expect(await page.locator('.failed').count()).toBe(0);
    await page.locator('#running', { hasText: '0' }).waitFor();
    expect(await page.locator('#kv').innerText()).toMatch(/^\d+ %$/);
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow).toBe(0);
    expect(await violations(page)).toEqual([]);
    await context.close();
  });
});

test('it counts what runs, and how fast', async () => {
  const { page } = await open(browser, `${replica.url}/ui`);
  await serving(page);
  const leaving = new AbortController();
  // Together they last longer than the page takes to look.
  const streams = Array.from({ length: 8 }, () =>
    fetch(`${replica.url}/v1/completions`, {
      method: 'POST',
      body: JSON.stringify({ ...endless, max_tokens: 4000 }),
      signal: leaving.signal,
    }),
  );
  await page.locator('#running', { hasText: '8' }).waitFor();
  await page.locator('#rate', { hasText: /^\d/ }).waitFor();
  leaving.abort();
  await Promise.allSettled(streams);
  await page.locator('#running', { hasText: '0' }).waitFor();
  await page.close();
});

test('an answer is stopped, and the engine stops too', async () => {
  const { page, complaints } = await open(browser, `${replica.url}/ui`);
  await serving(page);
  await askForLongAnswer(page);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.locator('.turn .who', { hasText: 'stopped' }).waitFor();
  await page.locator('#running', { hasText: '0' }).waitFor();
  expect(complaints).toEqual([]);
  await page.getByRole('button', { name: 'Clear' }).click();
  expect(await page.locator('.turn').count()).toBe(0);
  await page.close();
});

test('a question that got no answer is not sent with the next one', async () => {
  const { page } = await open(browser, `${replica.url}/ui`);
  await serving(page);
  const asked: string[][] = [];
  await page.route('**/v1/chat/completions', (route) => {
    const { messages } = route.request().postDataJSON() as {
      readonly messages: { readonly content: string }[];
    };
    asked.push(messages.map(({ content }) => content));
    return asked.length === 1
      ? route.fulfill({ status: 503, body: '{"error":{"message":"try later"}}' })
      : route.continue();
  });
  await chat(page, 'first');
  expect(await page.locator('.turn .failed').innerText()).toContain('try later');
  const answer = await chat(page, 'What is a partition?');
  await chat(page, 'third');
  expect(asked).toEqual([['first'], ['What is a partition?'], ['What is a partition?', answer, 'third']]);
  await page.close();
});

test('thoughts are folded, errors are listed', async () => {
  const { page } = await open(browser, `${replica.url}/ui`);
  await serving(page);
  const events = [{ reasoning: 'so it is' }, { content: 'It is' }].map(
    (delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`,
  );
  await page.route('**/v1/chat/completions', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: `${events.join('')}data: [DONE]\n\n` }),
  );
  expect(await chat(page, 'x')).toBe('It is');
  const thoughts = page.locator('.turn details').last();
  expect(await thoughts.getAttribute('open')).toBeNull();
  await thoughts.locator('summary').click();
  expect(await thoughts.innerText()).toContain('so it is');
  await replica.post('/v1/completions', { prompt: 'x', temperature: -1 });
  await page.locator('#error-count', { hasText: /\d/ }).waitFor();
  await page.locator('#errors summary').click();
  expect(await page.locator('#error-list').innerText()).toContain('/v1/completions: invalid_request');
  await page.close();
});

test('it works behind a prefix', async () => {
  const prefix = '/service/lw/inference';
  const gateway = await startGateway(prefix, replica.url);
  const { port } = gateway.address() as AddressInfo;
  const { page, complaints } = await open(browser, `http://127.0.0.1:${String(port)}${prefix}/ui/`);
  await serving(page);
  expect(new URL(page.url()).pathname).toBe(`${prefix}/ui`);
  expect(await chat(page, 'What is a partition?')).not.toBe('');
  expect(complaints).toEqual([]);
  await page.close();
  gateway.closeAllConnections();
  gateway.close();
});

test('while nobody sees it, it asks for nothing', async () => {
  const { page } = await open(browser, `${replica.url}/ui`);
  await serving(page);
  const hide = (hidden: boolean): Promise<unknown> =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${String(hidden)}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
  await hide(true);
  // One may be on its way.
  await page.waitForTimeout(1_500);
  let looks = 0;
  page.on('request', () => (looks += 1));
  await page.waitForTimeout(2_500);
  expect(looks).toBe(0);
  await hide(false);
  await replica.eventually('a look', () => Promise.resolve(looks > 0));
  await page.close();
});

test('a server that does not answer is out of reach, and what it reported before is not shown any more', async () => {
  const { page } = await open(browser, `${replica.url}/ui`);
  await page.locator('#kv', { hasText: '%' }).waitFor();
  await page.route('**/ui/status', () => undefined);
  await page.locator('#state', { hasText: 'out of reach' }).waitFor();
  expect(await page.locator('#problem').innerText()).not.toBe('');
  expect(await page.locator('dd').allInnerTexts()).toEqual(['–', '–', '–', '–']);
  await page.close();
});

test('the shapes of a warm-up, days of errors, and a failure that is longer than a phone is wide', async () => {
  const { page } = await open(browser, `${replica.url}/ui`, widths.phone);
  await serving(page);
  const load = {
    phase: 'warmup',
    bytesDone: 7,
    bytesTotal: 7,
    etaSeconds: 0,
    warmup: { done: 3, total: 12 },
  };
  const failure = { reason: 'S3Unavailable', message: `https://${'bucket'.repeat(20)}/` };
  const errors = [{ at: Date.UTC(2026, 0, 2), route: null, code: 'route_not_found' }];
  await page.route('**/ui/status', (route) =>
    route.fulfill({ json: { model: 'demo', state: 'loading', failure, load, engine: null, errors } }),
  );
  const progress = page.getByLabel('warm-up: 3 of 12 shapes');
  await progress.waitFor();
  expect([await progress.getAttribute('value'), await progress.getAttribute('max')]).toEqual(['3', '12']);
  await page.locator('#errors summary').click();
  const error = page.locator('#error-list li');
  expect(await error.innerText()).toContain('2026');
  const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(wide)).toBe(0);
  // What is shown already stays as it is, and what is selected of it stays selected.
  await page.evaluate("getSelection().selectAllChildren(document.querySelector('#error-list li'))");
  await page.waitForTimeout(1_500);
  expect(await page.evaluate('getSelection().toString()')).toContain('route_not_found');
  await page.close();
});

test('an answer that continues does not take the reader away from what is further up', async () => {
  const { page } = await open(browser, `${replica.url}/ui`, widths.phone);
  await serving(page);
  await askForLongAnswer(page);
  const box = (member: string): Promise<number> =>
    page.evaluate(`document.getElementById('conversation').${member}`);
  await replica.eventually('the end to be followed', async () => (await box('scrollTop')) > 100);
  await page.evaluate("document.getElementById('conversation').scrollTo({ top: 0 })");
  const height = await box('scrollHeight');
  await replica.eventually('more of it', async () => (await box('scrollHeight')) > height + 100);
  expect(await box('scrollTop')).toBe(0);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.close();
});

test('an answer comes where streams cannot be iterated, as in Safari', async () => {
  const page = await browser.newPage();
  await page.addInitScript(
    'delete ReadableStream.prototype[Symbol.asyncIterator]; delete ReadableStream.prototype.values',
  );
  await page.goto(`${replica.url}/ui`);
  await serving(page);
  expect(await chat(page, 'What is a partition?')).not.toBe('');
  expect(await page.locator('.turn .failed').count()).toBe(0);
  await page.close();
});

test('an answer that ends before its end says so', async () => {
  const { page } = await open(browser, `${replica.url}/ui`);
  await serving(page);
  const body = `data: ${JSON.stringify({ choices: [{ delta: { content: 'It' } }] })}\n\n`;
  await page.route('**/v1/chat/completions', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body }),
  );
  expect(await chat(page, 'x')).toBe('It');
  expect(await page.locator('.turn .failed').innerText()).toBe('the answer broke off');
  await page.close();
});

test('where there are keys it asks for one', async () => {
  const sha256 = createHash('sha256').update('sk-a').digest('hex');
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify({ keys: [{ id: 'a', sha256 }] }));
  const locked = await ReplicaProcess.start({ uri: demoCheckpoint, env: { KEYS_DIR: folder } });
  await locked.ready();
  const { page } = await open(browser, `${locked.url}/ui`);
  const input = page.getByLabel('This server asks for an API key');
  await input.waitFor();
  // And looks no more until it has one: each look would be refused, counted and logged.
  await page.waitForTimeout(2_500);
  expect(await locked.metric('llmservice_unauthorized_total')).toBe(1);
  const use = async (key: string): Promise<void> => {
    await input.fill(key);
    await page.getByRole('button', { name: 'Use it' }).click();
  };
  await use('“sk-a”');
  await page.locator('#problem', { hasText: 'copy it again' }).waitFor();
  await use('sk-b');
  await page.locator('#problem', { hasText: 'not known here' }).waitFor();
  expect(await input.inputValue()).toBe('');
  await use(' sk-a ');
  await serving(page);
  expect(await chat(page, 'What is a partition?')).not.toBe('');
  await page.close();
  await locked.stop();
});
