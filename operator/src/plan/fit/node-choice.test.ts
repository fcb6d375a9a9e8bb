import { expect, test } from '@jest/globals';
import type { NodeSelectorRequirement } from '../../kube/types.js';
import { mayRunOn } from './node-choice.js';
import { podRequests } from './pod-requests.js';

const node = { name: 'a', labels: { zone: 'x', cards: '8' }, taints: [] };
const taint = (effect: string) => ({ ...node, taints: [{ key: 'dedicated', value: 'ml', effect }] });

test.each<[NodeSelectorRequirement, boolean]>([
  [{ key: 'zone', operator: 'In', values: ['x', 'y'] }, true],
  [{ key: 'zone', operator: 'NotIn', values: ['x'] }, false],
  [{ key: 'other', operator: 'NotIn', values: ['x'] }, true],
  [{ key: 'other', operator: 'Exists' }, false],
  [{ key: 'other', operator: 'DoesNotExist' }, true],
  [{ key: 'cards', operator: 'Gt', values: ['7'] }, true],
  [{ key: 'cards', operator: 'Lt', values: ['8'] }, false],
  [{ key: 'other', operator: 'Gt', values: ['0'] }, false],
  [{ key: 'zone', operator: 'New' }, false],
])('%j → %j', (requirement, expected) => {
  const terms = [{ matchFields: [{ ...requirement, key: 'metadata.name', operator: 'In', values: ['b'] }] }];
  const affinity = (nodeSelectorTerms: object[]) =>
    ({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } }) as never;
  expect(mayRunOn({ affinity: affinity([...terms, { matchExpressions: [requirement] }]) }, node)).toBe(
    expected,
  );
});

test.each([
  [{ operator: 'Exists' }, 'NoSchedule', true],
  [{ key: 'dedicated', operator: 'Exists' }, 'NoExecute', true],
  [{ key: 'dedicated', value: 'ml' }, 'NoSchedule', true],
  [{ key: 'dedicated', value: 'ml', effect: 'NoExecute' }, 'NoSchedule', false],
  [{ key: 'dedicated', value: 'web' }, 'NoSchedule', false],
  [{ key: 'other', operator: 'Exists' }, 'PreferNoSchedule', true],
])('%j against %s → %j', (toleration, effect, expected) => {
  expect(mayRunOn({ tolerations: [toleration] }, taint(effect))).toBe(expected);
});

test('a pod takes the larger of its containers together and any init container, and its overhead', () => {
  const container = (cpu: string, restartPolicy?: string) => ({
    name: 'c',
    resources: { requests: { cpu } },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  const containers = [container('500m'), container('1')];
  const overhead = { cpu: '100m' };
  expect(podRequests({ containers, overhead })).toEqual({ cpu: 1.6, pods: 1 });
  const initContainers = [container('3'), container('1', 'Always')];
  expect(podRequests({ containers, initContainers })).toEqual({ cpu: 3, pods: 1 });
});
