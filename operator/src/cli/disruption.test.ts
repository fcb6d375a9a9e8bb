import { expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import type { Deployment } from '../kube/types.js';
import { describeDisruption, disruptionOf } from './disruption.js';

const live = (replicas: number, revision: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'demo' },
  spec: { replicas, template: { metadata: { annotations: { [annotations.revision]: revision } } } },
});

test.each([undefined, live(1, 'before')])('a change is tried beside the pods that serve', (deployment) => {
  const pods = { revision: 'now', replicas: 1, replacement: 'surge', isTried: true } as const;
  expect(disruptionOf(pods, deployment)).toEqual({ kind: 'canary' });
  expect(disruptionOf(pods, live(1, 'now'))).toEqual({ kind: 'nothing' });
});

test.each([
  ['nobody was asked', 'surge', undefined, { kind: 'unknown', onChange: 'surge' }],
  ['nobody was asked, and it depends', null, undefined, { kind: 'unknown', onChange: null }],
  ['there is none', 'surge', null, { kind: 'create' }],
  ['the same pods', 'drain', live(1, 'now'), { kind: 'nothing' }],
  ['the same pods, more or fewer', 'drain', live(3, 'now'), { kind: 'scale', from: 3, to: 1 }],
  ['other pods, with room for one more', 'surge', live(1, 'before'), { kind: 'surge' }],
  ['other pods on scarce devices', 'drain', live(1, 'before'), { kind: 'drain' }],
  ['other pods that together hold too little', 'drainAll', live(1, 'before'), { kind: 'drainAll' }],
  ['other pods, of which none runs', 'drain', live(0, 'before'), { kind: 'scale', from: 0, to: 1 }],
] as const)('%s', (_name, replacement, deployment, expected) => {
  const found = disruptionOf({ revision: 'now', replicas: 1, replacement }, deployment);
  expect(found).toEqual(expected);
  expect(describeDisruption(found).length).toBeGreaterThan(10);
});

test.each([
  ['surge', 3, 'surge: group by group, a new group of 2 pods serves before an old one ends'],
  [
    'drain',
    3,
    'drain: group by group, an old group of 2 pods finishes what it runs and ends before a new one starts',
  ],
  [
    'drain',
    1,
    'drain: group by group, an old group of 2 pods finishes what it runs and ends before a new one starts; nobody answers meanwhile',
  ],
] as const)('of groups it says %s with %d', (replacement, before, said) => {
  const pods = { revision: 'now', replicas: 2, replacement, groupSize: 2 };
  const found = disruptionOf(pods, live(before, 'before'));
  expect(found).toEqual({ kind: replacement, groups: { size: 2, count: before } });
  expect(describeDisruption(found)).toBe(said);
});

test('of groups that were not read it says what they depend on', () => {
  const pods = { revision: 'now', replicas: 2, replacement: null, groupSize: 2 };
  expect(describeDisruption(disruptionOf(pods, undefined))).toContain('nodes have room for one more group');
});
