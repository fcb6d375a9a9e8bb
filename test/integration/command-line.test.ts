// The commands as a person starts them in a checkout: what `source deploy/local/env.sh` puts on the PATH, and how what npx
// started ends.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually, freePort, repository, run, start, stop, toolFolders } from '../processes.js';
import { demoCheckpoint } from './replica-process.js';

jest.setTimeout(120_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmservice-command-line-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const inShell = (script: string): string => `source ${repository}/deploy/local/env.sh && ${script}`;
/** Without what npm adds to the PATH of the programs that it starts, such as this test. */
const path = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((each) => !each.endsWith('node_modules/.bin'));
const plain = { NODE_OPTIONS: '', NODE_NO_WARNINGS: '1', PATH: path.join(delimiter) };

test('kubectl finds kubectl llm', async () => {
  const [kubernetes = ''] = toolFolders('kubernetes');
  const script = inShell(`cd / && ${kubernetes}/kubectl llm --help`);
  const { code, stdout } = await run('bash', ['-c', script], '', plain);
  expect([code, stdout]).toEqual([0, expect.stringContaining('usage: kubectl llm COMMAND')]);
});

test('SIGTERM to npx ends the server that it started, and frees its port', async () => {
  const port = String(await freePort());
  const serve = `exec npx llmservice serve --model ${demoCheckpoint} --name demo --port ${port}`;
  const log = join(folder, 'serve.log');
  const npx = start('bash', ['-c', inShell(`cd ${repository} && ${serve}`)], log, plain);
  const answers = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/healthz/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually('the server to be ready', answers);
  await stop(npx);
  await eventually('the server to end', async () => !(await answers()), 20_000);
});
