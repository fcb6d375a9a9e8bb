// Through the decision that they belong to.

import { describe, expect, test } from '@jest/globals';
import { annotations, labels } from '@llmservice/crds';
import type { Pod, PodSpec } from '../../kube/types.js';
import type { ListedDevice } from '../fit/device-match.js';
import { decideRollout, type NodeRoom, type Rollout } from './rollout.js';

const selectors = ["device.attributes['gpu.amd.com'].type == 'amdgpu'"];
const asks = (count: number, change: object = {}) => ({
  [annotations.deviceRequest]: JSON.stringify({ deviceClass: 'gpu.amd.com', count, selectors, ...change }),
});
const claiming = (template: string, change: PodSpec = {}): PodSpec => ({
  containers: [],
  resourceClaims: [{ name: 'devices', resourceClaimTemplateName: template }],
  ...change,
});
const old = (name: string, metadata: object, spec = claiming('old')): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name, uid: name, ...metadata },
  spec: { ...spec, nodeName: 'a' },
});
const match = { driver: 'gpu.amd.com', product: '*', attributes: { type: 'amdgpu' } };
const device = (node: string, ...holders: string[]): ListedDevice => ({
  ...{ driver: 'gpu.amd.com', node, holders: holders.length === 0 ? null : holders },
  attributes: { productName: 'AMD Instinct MI300X OAM', type: 'amdgpu' },
});
const partition = { ...device('a', 'old'), attributes: { type: 'amdgpu-partition' } };
const node = (name: string, change: Partial<NodeRoom> = {}): NodeRoom => ({
  ...{ name, labels: {}, taints: [], free: { cpu: 4, pods: 10 } },
  ...change,
});
const base: Rollout = {
  ...{ strategy: 'Auto', current: 'surge', changing: false, match, groupSize: 1 },
  pod: claiming('new'),
  metadata: { annotations: asks(2) },
  oldPods: [old('old', { annotations: asks(2) })],
  unschedulable: { message: '0/1 nodes are available: 1 cannot allocate all claims.', forMs: 60_000 },
};
const other = [old('old', { annotations: asks(2, { selectors: ['false'] }) })];

describe('a new pod whose claim cannot be allocated', () => {
  test.each<[string, Partial<Rollout>, ListedDevice[] | null, string]>([
    ['an old pod holds as many of the same', {}, null, 'drain'],
    ['an old pod holds more of the same', { metadata: { annotations: asks(1) } }, null, 'drain'],
    ['it asks for more than an old pod holds', { metadata: { annotations: asks(3) } }, null, 'surge'],
    ['its selectors are others', { oldPods: other }, null, 'surge'],
    [
      'its class is another',
      { oldPods: [old('old', { annotations: asks(2, { deviceClass: 'b' }) })] },
      null,
      'surge',
    ],
    ['old pods have a claim that is unrelated', { oldPods: [old('old', {})] }, null, 'surge'],
    ['old pods have none', { oldPods: [old('old', {}, { containers: [] })] }, null, 'surge'],
    ['no device is listed that it selects', {}, [partition, partition], 'surge'],
    [
      'what old pods hold and what is free is enough',
      { oldPods: other },
      [device('a', 'old'), device('a')],
      'drain',
    ],
    ['it is too little', { oldPods: other }, [device('a', 'old'), device('b')], 'surge'],
    ['others hold the rest', { oldPods: other }, [device('a', 'old'), device('a', 'x')], 'surge'],
    [
      'an old pod shares a device with others',
      { oldPods: other },
      [device('a', 'old', 'x'), device('a')],
      'surge',
    ],
    ['devices are free, and old pods hold none', { oldPods: other }, [device('a'), device('a')], 'surge'],
    [
      'two old pods hold enough together',
      { oldPods: [old('one', {}), old('two', {})] },
      [device('a', 'one'), device('a', 'two')],
      'drainAll',
    ],
    [
      'both take theirs from the same template of the spec',
      { pod: claiming('mine'), metadata: {}, match: null, oldPods: [old('old', {}, claiming('mine'))] },
      null,
      'drain',
    ],
    [
      'the template of the spec is another',
      { pod: claiming('mine'), metadata: {}, match: null, oldPods: [old('old', {}, claiming('its'))] },
      null,
      'surge',
    ],
  ])('%s', (_, change, devices, expected) => {
    expect(decideRollout({ ...base, ...change }, [node('a')], devices)).toBe(expected);
    expect(decideRollout({ ...base, ...change }, null, devices)).toBe(expected);
  });

  test('an old pod on a node where the new one may not run is left alone', () => {
    const rollout = { ...base, pod: claiming('new', { nodeSelector: { pool: 'b' } }) };
    expect(decideRollout(rollout, [node('a'), node('b', { labels: { pool: 'b' } })], null)).toBe('surge');
  });
});

test('room for the rest of a pod costs no serving pod where its claim cannot be allocated', () => {
  const spec = (template: string) =>
    claiming(template, { containers: [{ name: 'runtime', resources: { requests: { cpu: '4' } } }] });
  const rollout: Rollout = {
    ...{ ...base, changing: true, unschedulable: null, pod: spec('new') },
    oldPods: [old('old', { annotations: asks(2) }, spec('old'))],
  };
  const full = [node('a', { free: { cpu: 0, pods: 10 } })];
  expect(decideRollout(rollout, full, [device('a', 'old'), device('a', 'old')])).toBe('drain');
  expect(decideRollout(rollout, full, [partition])).toBe('surge');
  const named = { ...rollout, pod: spec('mine'), metadata: {}, match: null };
  expect(decideRollout(named, full, null)).toBe('surge');
  expect(decideRollout({ ...named, pod: spec('old') }, full, null)).toBe('drain');
  const many = { ...rollout, metadata: { annotations: asks(8) } };
  expect(decideRollout(many, full, [device('a', 'old'), device('a', 'old')])).toBe('surge');
  expect(
    decideRollout(
      many,
      full,
      Array.from({ length: 8 }, () => device('a', 'old')),
    ),
  ).toBe('drain');
});

describe('a new pod that waits for quota', () => {
  const gpu = (count: number): PodSpec => ({
    containers: [{ name: 'runtime', resources: { requests: { 'amd.com/gpu': String(count), cpu: '1' } } }],
  });
  const team = { [labels.queue]: 'team' };
  const words = 'insufficient unused quota for amd.com/gpu in flavor a, 1 more needed';
  const waiting = (oldPod: Pod, change: Partial<Rollout> = {}, message = words): Rollout => ({
    ...{ ...base, pod: gpu(2), metadata: { labels: team }, match: null, oldPods: [oldPod] },
    ...{ unschedulable: { message, forMs: 60_000 }, ...change },
  });
  const claimed = { pod: claiming('new'), metadata: { labels: team, annotations: asks(2) } };
  const mapped = words.replace('amd.com/gpu', 'whole-gpus');

  test.each<[string, Rollout, string]>([
    ['that an old pod holds', waiting(old('old', { labels: team }, gpu(2))), 'drain'],
    ['that no old pod holds, without the label', waiting(old('old', {}, gpu(2))), 'surge'],
    ['of another queue', waiting(old('old', { labels: { [labels.queue]: 'b' } }, gpu(2))), 'surge'],
    ['of which an old pod holds too little', waiting(old('old', { labels: team }, gpu(1))), 'surge'],
    [
      'for devices of a claim that an old pod has too',
      waiting(old('old', { labels: team, annotations: asks(2) }), claimed, mapped),
      'drain',
    ],
    [
      'for more devices of a claim than an old pod has',
      waiting(old('old', { labels: team, annotations: asks(1) }), claimed, mapped),
      'surge',
    ],
    [
      'of a resource that the new pod does not ask for',
      waiting(old('old', { labels: team }, gpu(2)), {}, mapped),
      'surge',
    ],
    [
      'that the queue never has',
      waiting(
        old('old', { labels: team }, gpu(2)),
        {},
        'insufficient quota for amd.com/gpu > maximum capacity (1)',
      ),
      'surge',
    ],
  ])('%s', (_, rollout, expected) => {
    expect(decideRollout(rollout, null, null)).toBe(expected);
  });
});
