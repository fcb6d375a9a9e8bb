import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { annotations, parseTerminationMessage } from '@llmservice/crds';
import type { KubeRequest } from '../kube/client.js';
import type { ContainerStatus, Pod } from '../kube/types.js';
import { CrashLogs } from './crash-logs.js';

const ended = { exitCode: 1, message: 'the last lines', finishedAt: '2026-01-01T00:00:00Z' };
const log = 'ValueError: No available memory for the cache blocks.';

function pod(change: Partial<ContainerStatus>, engine: string | null = 'vllm'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'demo-1',
      namespace: 'ns',
      uid: 'u1',
      annotations: engine === null ? {} : { [annotations.engineRuntime]: engine },
    },
    status: { containerStatuses: [{ name: 'runtime', ready: false, restartCount: 1, ...change }] },
  };
}

function reader(answer: () => string) {
  const asked: KubeRequest[] = [];
  const open = (request: KubeRequest): Promise<IncomingMessage> => {
    asked.push(request);
    return Promise.resolve(Readable.from([answer()]) as IncomingMessage);
  };
  return { asked, logs: new CrashLogs({ open }) };
}

const reasonOf = ([first]: Pod[]): string | undefined => {
  const status = first?.status?.containerStatuses?.[0];
  return parseTerminationMessage((status?.state?.terminated ?? status?.lastState?.terminated)?.message)
    ?.reason;
};

test.each([
  ['of the run before', { state: { running: {} }, lastState: { terminated: ended } }, true],
  ['of the run that just ended', { state: { terminated: ended } }, false],
])('the log %s is read once', async (_, change, previous) => {
  const { asked, logs } = reader(() => log);
  const pods = [pod(change)];
  await logs.read(pods);
  await logs.read(pods);
  expect(asked).toMatchObject([{ path: '/api/v1/namespaces/ns/pods/demo-1/log', query: { previous } }]);
  expect(reasonOf(logs.explained(pods))).toBe('ModelTooLarge');
});

test('a log that cannot be had leaves the lines that Kubernetes kept', async () => {
  const logs = new CrashLogs({ open: () => Promise.reject(new Error('no kubelet')) });
  const kept = pod({ lastState: { terminated: { ...ended, message: log } } });
  await logs.read([kept]);
  expect(reasonOf(logs.explained([kept]))).toBe('ModelTooLarge');
  const silent = [pod({ lastState: { terminated: ended } })];
  expect(logs.explained(silent)).toEqual(silent);
});

test('pods that report their own reasons, or run, are not asked', async () => {
  const { asked, logs } = reader(() => log);
  await logs.read([pod({ lastState: { terminated: ended } }, null), pod({ state: { running: {} } })]);
  expect(asked).toEqual([]);
});
