import { expect, test } from '@jest/globals';
import type { ResourceSlice } from '../kube/resource-slices.js';
import { checkDeviceSlices } from './check-device-slices.js';
import type { ClusterFacts } from './facts.js';
import { clusterFacts, forbidden, read, serviceFacts } from './facts.fixture.js';

const service = (accelerator: object) =>
  serviceFacts({ metadata: { name: 'chat', namespace: 'team' }, spec: { accelerator } });
const byClaim = read([service({ profile: 'mi300x', claim: {} })]);
const plain = read([service({ profile: 'mi300x' })]);

const slice = (node: string, devices: number, pool: object = {}): ResourceSlice => ({
  ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', metadata: { name: node } },
  spec: {
    ...{ driver: 'gpu.amd.com', nodeName: node },
    pool: { name: node, generation: 1, resourceSliceCount: 1, ...pool },
    devices: Array.from({ length: devices }, (_, index) => ({ name: `gpu-${String(index)}` })),
  },
});
const listed = 'ok: gpu.amd.com lists 12 devices on 2 nodes for claims';

test.each<[string, Partial<ClusterFacts>, string[]]>([
  ['nobody wants one, and nobody lists one', { services: plain, resourceSlices: read([]) }, []],
  ['nobody wants one where they may not be read', { services: plain, resourceSlices: forbidden }, []],
  [
    'a service wants one where they may not be read',
    { services: byClaim, resourceSlices: forbidden },
    ['warning: ResourceSlices: you may not read this'],
  ],
  [
    'a driver lists some',
    { services: byClaim, resourceSlices: read([slice('a', 8), slice('b', 4)]) },
    [listed],
  ],
  [
    'what a driver listed before it listed anew',
    {
      services: plain,
      resourceSlices: read([slice('a', 8), slice('b', 9), slice('b', 4, { generation: 2 })]),
    },
    [listed],
  ],
  [
    'a driver that has not listed all',
    { services: plain, resourceSlices: read([slice('a', 8), slice('b', 4, { resourceSliceCount: 3 })]) },
    [listed, 'warning: pool b of gpu.amd.com has 1 of 3 ResourceSlices'],
  ],
  [
    'a service wants one, and nobody lists one',
    { services: byClaim, resourceSlices: read([]) },
    ['warning: no driver lists a device in ResourceSlices, and team/chat asks for devices by claim'],
  ],
  [
    'a service wants one, and the cluster does not know them',
    { services: byClaim, resourceSlices: read(null) },
    [
      'warning: the cluster does not serve ResourceSlice (resource.k8s.io/v1), and team/chat asks for devices by claim',
    ],
  ],
])('of devices for claims is said: %s', (_, change, expected) => {
  const found = checkDeviceSlices(clusterFacts(change));
  expect(found.map(({ level, message }) => `${level}: ${message}`)).toEqual(expected);
});
