// The program as a shell runs it: what it prints has to be through before it ends, whoever reads it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { list, startApi, type ApiStandIn } from './api-stand-in.fixture.js';

const program = fileURLToPath(new URL('main.ts', import.meta.url));
const count = 20_000;
const lines = Array.from({ length: count }, (_, index) => `line ${index} of a log that is long`).join('\n');

let api: ApiStandIn;
beforeAll(async () => {
  const pod = {
    metadata: { name: 'demo-1', uid: 'u' },
    status: { containerStatuses: [{ name: 'runtime', restartCount: 0, state: { running: {} } }] },
  };
  api = await startApi(({ pathname }, response) => {
    if (pathname.endsWith('/log')) response.end(`${lines}\n`);
    else
      response.end(pathname.endsWith('/pods') ? list(pod) : JSON.stringify({ metadata: { name: 'demo' } }));
  });
});
afterAll(() => api.stop());

function start() {
  const args = ['--import', 'tsx', program, 'logs', 'demo', '--kubeconfig', api.kubeconfig];
  const env = { ...process.env, NODE_OPTIONS: '' };
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

test('a reader that is slower gets every line', async () => {
  const child = start();
  const ended = once(child, 'close');
  let received = '';
  for await (const part of child.stdout.setEncoding('utf8')) {
    received += part as string;
    await sleep(50);
  }
  expect(received.split('\n')).toHaveLength(count + 1);
  expect((await ended)[0]).toBe(0);
});

test('a reader that has seen enough ends it, without a word', async () => {
  const child = start();
  const ended = once(child, 'close');
  const errors = text(child.stderr);
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect((await ended)[0]).toBe(0);
  expect(await errors).toBe('');
});
