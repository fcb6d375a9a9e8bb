// The command of the service chart's hook, as the hook's Job runs it, against a real API server; the test writes the
// status that the operator would.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { run, type CommandResult } from '../processes.js';
import { ApiServer } from './api-server.js';
import { Kubectl } from './kubectl.js';

const startTimeoutMs = 600_000;
const program = fileURLToPath(new URL('../../operator/dist/wait.js', import.meta.url));
let server: ApiServer;
let kubectl: Kubectl;
let folder: string;

beforeAll(async () => {
  server = await ApiServer.start();
  kubectl = new Kubectl(server.kubeConfig());
  await kubectl.installCrd();
  folder = await mkdtemp(join(tmpdir(), 'llmservice-wait-'));
  await writeFile(join(folder, 'kubeconfig'), server.kubeConfig().exportConfig());
}, startTimeoutMs);
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

function wait(...args: string[]): Promise<CommandResult> {
  const env = { KUBECONFIG: join(folder, 'kubeconfig'), NODE_OPTIONS: '' };
  return run(process.execPath, [program, ...args], '', env);
}

async function create(name: string): Promise<void> {
  const object = {
    apiVersion: 'llmservice.dev/v1alpha1',
    kind: 'LlmService',
    metadata: { name },
    spec: { model: { uri: 's3://bucket/tiny/' } },
  };
  await kubectl.output(['create', '-f', '-'], JSON.stringify(object));
}

async function setConditions(name: string, answers: Record<string, [string, string]>): Promise<void> {
  const conditions = Object.entries(answers).map(([type, [status, reason]]) => ({
    type,
    status,
    reason,
    message: `${reason} it is.`,
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
  const patch = JSON.stringify({ status: { conditions } });
  await kubectl.output(['patch', 'llm', name, '--subresource=status', '--type=merge', '-p', patch]);
}

it('returns once the service is accepted, though it does not serve', async () => {
  await create('accepted');
  const result = wait('default/accepted', 'accepted', '60');
  await setConditions('accepted', {
    ModelResolved: ['True', 'Read'],
    Fits: ['True', 'Planned'],
    Ready: ['False', 'Loading'],
  });
  expect(await result).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('default/accepted is accepted'),
  });
}, 90_000);

it('fails at once on a terminal failure and prints its message', async () => {
  await create('failing');
  await setConditions('failing', { Stalled: ['True', 'UnsupportedArchitecture'] });
  expect(await wait('default/failing', 'serving', '600')).toMatchObject({
    code: 1,
    stderr: 'failed: UnsupportedArchitecture: UnsupportedArchitecture it is.\n',
  });
}, 90_000);

it('times out with what it waited for', async () => {
  await create('loading');
  await setConditions('loading', { Ready: ['False', 'Loading'] });
  const { code, stderr } = await wait('default/loading', 'serving', '1');
  expect(code).toBe(1);
  expect(stderr).toContain('timed out after 1 s: Ready=False, Loading: Loading it is.');
}, 90_000);

it('explains its arguments', async () => {
  expect(await wait('tiny', 'whenever')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('usage:'),
  });
});
