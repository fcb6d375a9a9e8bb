import { expect, test } from '@jest/globals';
import type { Pod } from '../kube/types.js';
import { leftWithout } from './drain-rules.js';
import { counting, describeGenerations, none } from './drained-generations.js';

const request = (message: string, fields: object): string =>
  JSON.stringify({ level: 'info', message, ...fields });

test('how requests of a pod that ends came to their end is counted by its log', () => {
  const lines = [
    request('request finished', { errorCode: null, finishReasons: ['stop'] }),
    request('request finished', { errorCode: null, finishReasons: ['length', 'stop'] }),
    request('request finished', { errorCode: null, finishReasons: ['abort'] }),
    request('request finished', { errorCode: 'draining', finishReasons: ['error'] }),
    request('request finished', { errorCode: 'engine_fault', finishReasons: ['error'] }),
    request('request refused', { errorCode: 'draining' }),
    request('request refused', { errorCode: 'invalid_api_key' }),
    request('draining', { timeoutSeconds: 120 }),
    'no JSON',
  ];
  const counts = lines.reduce(counting, none);
  expect(counts).toEqual({ finished: 2, cut: 1, left: 1, failed: 1, refused: 1 });
  expect(describeGenerations(counts)).toBe(
    '2 finished, 1 cut off at the time limit (spec.rollout.drainTimeoutSeconds), 1 left by their clients, ' +
      '1 ended by an error, 1 refused, which clients send again',
  );
  expect(describeGenerations(none)).toBe('0 finished');
});

function pod(uid: string, service: string, ready: boolean): Pod {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: uid, uid, namespace: 'ns', labels: { 'llmservice.dev/service': service } },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

test.each([
  ['the only one that answers', ['a1'], ['ns/a']],
  ['one of two that answer', ['b1'], []],
  ['both that answer', ['b1', 'b2'], ['ns/b']],
  ['one that does not answer', ['c2'], []],
  ['the one that answers alongside one that does not', ['c1'], ['ns/c']],
])('%s: who would be left without', (_, names, services) => {
  const all = [
    ...[pod('a1', 'a', true), pod('b1', 'b', true), pod('b2', 'b', true)],
    ...[pod('c1', 'c', true), pod('c2', 'c', false)],
  ];
  expect(
    leftWithout(
      all.filter(({ metadata }) => names.includes(metadata.name)),
      all,
    ),
  ).toEqual(services);
});
