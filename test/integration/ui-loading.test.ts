// The page at /ui of a replica whose weights still arrive, in a real Chromium.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { readFiles } from '../builders/files.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { S3Gate } from './s3-gate.js';
import { S3Server, s3Environment } from './s3-server.js';
import { chat, launchBrowser, open, serving } from './ui-page.js';

jest.setTimeout(180_000);

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('while the weights arrive it shows how far they are, and then serves', async () => {
  const s3 = await S3Server.start();
  s3.put('models', 'demo', readFiles(demoCheckpoint));
  const gate = await S3Gate.start(s3.endpoint);
  const last = 'model-00002-of-00002.safetensors';
  // Not its header, which is read before there is anything to show.
  gate.holds = ({ file, begin, end }) => file === last && end - begin > 2 ** 20;
  const loading = await ReplicaProcess.start({
    uri: 's3://models/demo/',
    endpoint: gate.endpoint,
    env: s3Environment,
  });
  try {
    await loading.eventually('the page', async () => (await fetch(`${loading.url}/ui`)).ok);
    const { page, complaints } = await open(browser, `${loading.url}/ui`);
    await page.locator('#state', { hasText: 'pulling' }).waitFor();
    await loading.eventually('the pull to wait for its last piece', () => Promise.resolve(gate.held > 0));
    const progress = page.locator('#load-progress');
    await loading.eventually('the first shard to be shown', async () => {
      const [done, of] = await Promise.all(['value', 'max'].map((name) => progress.getAttribute(name)));
      return Number(done) > 3e6 && Number(of) > 7e6 && Number(done) < Number(of);
    });
    expect(await page.getByLabel(/^pull: 0\.00 of 0\.01 GB/).isVisible()).toBe(true);
    gate.release();
    await serving(page);
    expect(await progress.isVisible()).toBe(false);
    expect(await chat(page, 'What is a partition?')).not.toBe('');
    expect(complaints).toEqual([]);
    await page.close();
  } finally {
    await loading.stop();
    gate.stop();
    await s3.stop();
  }
});
