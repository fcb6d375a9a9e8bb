import { expect, test } from '@jest/globals';
import type { Pod } from '../kube/types.js';
import { renderLogLine } from './log-line.js';
import { logSources } from './log-sources.js';

const line = (fields: object): string => JSON.stringify({ level: 'info', message: 'serving', ...fields });

test.each([
  [
    'fields',
    line({ timestamp: '2026-03-01T09:59:59.123Z', uri: 's3://b/m/', blocks: 7 }),
    '09:59:59.123 info  serving uri=s3://b/m/ blocks=7',
  ],
  [
    'words and lists',
    line({ model: 'a b', finishReasons: ['stop'] }),
    'info  serving model="a b" finishReasons=["stop"]',
  ],
  ['nothing', line({ key: null }), 'info  serving'],
  ['a stack', line({ stack: 'Error: x\n at y' }), 'info  serving\n    Error: x\n     at y'],
  ['no JSON', 'Segmentation fault', 'Segmentation fault'],
  ['JSON cut short', '{"level":"info","mess', '{"level":"info","mess'],
  ['JSON without a message', '{"a":1}', '{"a":1}'],
])('a line with %s', (_, text, rendered) => {
  expect(renderLogLine(text)).toBe(rendered);
});

test('the logs of a pod are those of its weights, of the run that crashed, and of the one that runs', () => {
  const pod: Pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'demo-1', uid: 'u' } },
    status: {
      initContainerStatuses: [
        {
          name: 'weights',
          ready: true,
          restartCount: 0,
          state: { terminated: { exitCode: 0, reason: 'Completed' } },
        },
      ],
      containerStatuses: [
        {
          ...{ name: 'runtime', ready: false, restartCount: 2 },
          state: { running: {} },
          lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
        },
      ],
    },
  };
  expect(logSources(pod)).toMatchObject([
    {
      container: 'weights',
      previous: false,
      running: false,
      key: 'u/weights/0',
      title: 'demo-1 weights: ended with 0 (Completed)',
    },
    {
      container: 'runtime',
      previous: true,
      running: false,
      key: 'u/runtime/1',
      title: 'demo-1 runtime, the run before: ended with 137 (OOMKilled)',
    },
    { container: 'runtime', previous: false, running: true, key: 'u/runtime/2', title: 'demo-1 runtime' },
  ]);
});

test('a container that waits has no log yet, but what ran before has', () => {
  const waiting: Pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'demo-1', uid: 'u' } },
    status: {
      containerStatuses: [{ name: 'runtime', ready: false, restartCount: 0, state: { waiting: {} } }],
    },
  };
  expect(logSources(waiting)).toEqual([]);
});
