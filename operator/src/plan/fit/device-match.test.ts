import { expect, test } from '@jest/globals';
import { describeDevices, type ListedDevice } from './device-match.js';

const match = {
  driver: 'gpu.nvidia.com',
  product: 'NVIDIA-H100*',
  attributes: { type: 'mig', profile: '3g.40gb' },
};
const device = (node: string, profile: string, taken = false): ListedDevice => ({
  ...{ driver: match.driver, node, holders: taken ? ['uid'] : null },
  attributes: { productName: 'NVIDIA H100 80GB HBM3', type: 'mig', profile },
});

test.each<[string, number, ListedDevice[], string]>([
  [
    'taken, whatever else is free',
    1,
    [device('a', '3g.40gb', true), device('a', '1g.10gb')],
    'None of the devices that the claim selects (NVIDIA-H100* mig 3g.40gb) is free.',
  ],
  [
    'free, too few on each node',
    2,
    [device('a', '3g.40gb', true), device('a', '3g.40gb'), device('b', '3g.40gb')],
    'Fewer devices that the claim selects (NVIDIA-H100* mig 3g.40gb) are free on every node than the pod asks for.',
  ],
  [
    'free, enough on a node',
    2,
    [device('a', '3g.40gb', true), device('b', '3g.40gb'), device('b', '3g.40gb')],
    'A node has enough free devices that the claim selects',
  ],
])('devices that are meant and are %s', (_, count, devices, expected) => {
  expect(describeDevices(match, count, devices)).toContain(expected);
});

test('neither names of nodes nor how many are free is said, so that it stays while others come and go', () => {
  const on = (names: string[]) => names.map((name) => device(name, '3g.40gb'));
  const few = describeDevices(match, 2, on(['node-a', 'node-b']));
  expect(describeDevices(match, 2, on(['node-c', 'node-d', 'node-e']))).toBe(few);
  expect(few).not.toContain('node-');
});

test('what a driver lists instead is named, in whatever order', () => {
  const others = [device('a', '7g.80gb'), device('b', '1g.10gb')];
  const said = describeDevices(match, 1, others);
  expect(said).toContain(
    'gpu.nvidia.com lists NVIDIA H100 80GB HBM3 mig 1g.10gb, NVIDIA H100 80GB HBM3 mig 7g.80gb: correct spec.accelerator.profile.',
  );
  expect(describeDevices(match, 1, others.reverse())).toBe(said);
  expect(describeDevices(match, 1, [])).toContain('gpu.nvidia.com lists none at all');
});
