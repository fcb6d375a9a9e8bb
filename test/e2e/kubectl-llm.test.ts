// `kubectl llm` and `llmservice doctor` on a real node: through its kubelet a chat, logs across a restart, and pods that are
// taken away while they generate.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, kubectl } from './cluster.js';
import { call, chatBody, chatPath, stream } from './gateway.js';
import { KubectlLlm } from './kubectl-llm.js';
import {
  fromPod,
  makeNamespace,
  namespace,
  podsOf,
  remove,
  serviceOf,
  waitReady,
  type PodState,
} from './service.js';

jest.setTimeout(300_000);
const host = 'tools.e2e.example';
const question = 'What is the capital of France?';
const plugin = new KubectlLlm();
const llm = plugin.run.bind(plugin);

beforeAll(async () => {
  await makeNamespace();
  const service = serviceOf('tools', { uri: await upload('demo', demoModel()), host }) as { spec: object };
  await apply({ ...service, spec: { ...service.spec, replicas: 2 } });
  await waitReady('tools');
  await eventually('the route', async () => (await call(host, '/v1/models')).status === 200, 60_000);
});
afterAll(async () => {
  await remove('tools');
  plugin.remove();
});

describe('chat', () => {
  test('streams an answer to a prompt, through the API server', async () => {
    const ask = async (): Promise<string[]> => {
      const child = plugin.start(['chat', 'tools', '--prompt', 'Which routes does the runtime answer?']);
      const pieces: string[] = [];
      child.stdout.setEncoding('utf8').on('data', (text: string) => pieces.push(text));
      expect(await once(child, 'close')).toEqual([0, null]);
      expect(pieces.join('')).toContain('KServe');
      return pieces;
    };
    // Whoever waits for a processor finds all that has come meanwhile; what does not stream never comes in pieces.
    await eventually('an answer in pieces', async () => (await ask()).length > 2);
  });

  test('answers what comes from a pipe', async () => {
    const { code, stdout, stderr } = await llm(['chat', 'tools'], question);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Paris');
  });

  test('talks on a terminal until Ctrl-D', async () => {
    const child = plugin.startOnTerminal(['chat', 'tools']);
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
    await eventually('the prompt', () => shown.includes('> '));
    child.stdin.write(`${question}\r`);
    await eventually('the answer', () => /Paris[^]*tokens in[^]*> /.test(shown));
    child.stdin.write('\x04');
    expect(await once(child, 'close')).toEqual([0, null]);
  });
});

describe('logs', () => {
  test('show requests for reading, and follow', async () => {
    const { code, stdout } = await llm(['logs', 'tools']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d\.\d+ info {2}serving architecture=\S+ .* uri=s3:/m);
    expect(stdout).toMatch(/info {2}request finished .* id=chatcmpl-\S+ model=demo .* status=200/);

    const following = plugin.start(['logs', 'tools', '-f', '--tail', '0']);
    const seen = linesOf(following);
    await eventually('both pods to be followed', () => seen.titles() === 2);
    await llm(['chat', 'tools', '--prompt', question]);
    await eventually('the request', () => /tools-\S+ [\d:.]+ info {2}request finished/.test(seen.text()));
    following.kill('SIGINT');
    await once(following, 'close');
  });

  test('have the run before a restart too', async () => {
    const [pod] = await podsOf('tools');
    await kubectl(['exec', '-n', namespace, nameOf(pod), '--', 'node', '-e', 'process.kill(1, "SIGTERM")']);
    await eventually(
      'the restart',
      async () => {
        const [state] = (await podsOf('tools')).filter((each) => each.metadata.uid === pod?.metadata.uid);
        return state?.status.containerStatuses?.some(({ restartCount }) => restartCount > 0);
      },
      60_000,
    );
    const { stdout, stderr } = await llm(['logs', 'tools', '--pod', nameOf(pod)]);
    expect(stderr).toMatch(new RegExp(`== ${nameOf(pod)} runtime, the run before: ended with 0`));
    expect(stdout).toContain('draining timeoutSeconds=120');
    await waitReady('tools');
  });
});

describe('drain', () => {
  /** Streams of nearly the longest context, which take longer than the time for which a pod that ends still accepts. */
  function streams(count: number): { started: () => number; ended: Promise<string[]> } {
    let started = 0;
    const one = async (): Promise<string> => {
      let last = '';
      const body = chatBody('Tell me about the project.', { max_tokens: 4000, ignore_eos: true });
      for await (const { data } of stream(host, chatPath, body)) {
        if (last === '') started += 1;
        last = data;
      }
      return last;
    };
    return { started: () => started, ended: Promise.all(Array.from({ length: count }, one)) };
  }

  /** The gateway may send all to one. */
  async function busyPod(): Promise<PodState | undefined> {
    for (const pod of await podsOf('tools')) {
      const running = /^vllm:num_requests_running\{[^}]*\} (\S+)$/m.exec(await fromPod(pod, '/metrics'))?.[1];
      if (Number(running) > 0) return pod;
    }
    return undefined;
  }

  test('takes a pod away without cutting off what it generates', async () => {
    const { started, ended } = streams(16);
    await eventually('all to stream', () => started() === 16);
    const pod = await busyPod();
    const { code, stdout, stderr } = await llm(['drain', 'tools', nameOf(pod)]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      new RegExp(`${nameOf(pod)} is gone; its answers: [1-9]\\d* finished(, \\d+ refused.*)?$`, 'm'),
    );
    expect(await ended).toEqual(Array.from({ length: 16 }, () => '[DONE]'));
    expect((await podsOf('tools')).map(nameOf)).not.toContain(nameOf(pod));
  });

  test('reports answers that the time limit cut off', async () => {
    const change = JSON.stringify({ spec: { replicas: 1, rollout: { drainTimeoutSeconds: 0 } } });
    await kubectl(['patch', 'llm', 'tools', '-n', namespace, '--type', 'merge', '-p', change]);
    const watched = await llm(['status', 'tools', '-w', '--timeout', '120']);
    expect(watched.code).toBe(0);
    await eventually('one pod', async () => (await podsOf('tools')).length === 1, 60_000);
    const [pod] = await podsOf('tools');
    const { started, ended } = streams(16);
    await eventually('all to stream', () => started() === 16);
    const refused = await llm(['drain', 'tools', nameOf(pod)]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('no other pod of e2e/tools answers'),
    ]);
    const { code, stdout } = await llm(['drain', 'tools', nameOf(pod), '--force']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/is gone; its answers: 0 finished, 16 cut off at the time limit/);
    for (const last of await ended) expect(last).toContain('draining');
  });
});

test('the doctor finds nothing wrong with this cluster; what it cannot reach from here it says', async () => {
  await waitReady('tools');
  const { code, stdout, stderr } = await llm(['doctor', 'tools']);
  expect(stderr).toBe('');
  expect(stdout).not.toContain('PROBLEM');
  expect(stdout).toMatch(/ok {6}llmservice-system\/llmservice-operator: \d of \d pods are ready/);
  expect(stdout).toMatch(/ok {6}llmservice-system\/llmservice-operator is led by /);
  expect(stdout).toMatch(/ok {6}Gateway \S+ is accepted and programmed/);
  expect(stdout).toMatch(/warning e2e\/tools: from this machine .* The operator has read it\./);
  expect(stdout).toMatch(/ok {6}e2e\/tools: ready/);
  expect(code).toBe(4);
});

const nameOf = (pod: PodState | undefined): string => pod?.metadata.name ?? '';

function linesOf({ stdout, stderr }: ChildProcessWithoutNullStreams): {
  titles: () => number;
  text: () => string;
} {
  let [out, err] = ['', ''];
  stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  return { titles: () => err.split('== ').length - 1, text: () => out };
}
