import { expect, test } from '@jest/globals';
import { groupLabels, labels } from '@llmservice/crds';
import type { Pod } from '../kube/types.js';
import { answeringFor, leftWithout } from './drain-rules.js';

const pod = (name: string, more: Record<string, string> = {}): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name, namespace: 'a', uid: name, labels: { [labels.service]: 'demo', ...more } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});
const ofGroup = (group: number, worker: number): Pod =>
  pod(`demo-group-${String(group)}${worker === 0 ? '' : `-${String(worker)}`}`, {
    [groupLabels.set]: 'demo-group',
    [groupLabels.group]: String(group),
    [groupLabels.worker]: String(worker),
  });
const [leader, worker, otherLeader, otherWorker] = [
  ...[ofGroup(0, 0), ofGroup(0, 1), ofGroup(1, 0), ofGroup(1, 1)],
] as [Pod, Pod, Pod, Pod];

test('another pod that is ready answers', () => {
  const [one, two] = [pod('one'), pod('two')];
  expect(leftWithout([one], [one, two])).toEqual([]);
  expect(leftWithout([one], [one])).toEqual(['a/demo']);
});

test.each([
  ['of a leader', leader],
  ['of a worker, whose leader goes with it', worker],
])('in place %s the leader of another group answers, and no worker', (_, going) => {
  expect(leftWithout([going], [leader, worker])).toEqual(['a/demo']);
  expect(leftWithout([going], [leader, worker, otherWorker])).toEqual(['a/demo']);
  expect(leftWithout([going], [leader, worker, otherLeader, otherWorker])).toEqual([]);
  expect(leftWithout([going, otherWorker], [leader, worker, otherLeader, otherWorker])).toEqual(['a/demo']);
});

test('a leader answers for the workers of its group', () => {
  const all = [otherLeader, worker, leader, otherWorker];
  expect(answeringFor(worker, all)).toBe(leader);
  expect(answeringFor(leader, all)).toBe(leader);
  expect(answeringFor(worker, [otherLeader, worker])).toBe(worker);
  const alone = pod('one');
  expect(answeringFor(alone, [alone, leader])).toBe(alone);
});
