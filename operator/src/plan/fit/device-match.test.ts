import { expect, test } from '@jest/globals';
import { describeDevices, type ListedDevice } from './device-match.js';

const match = {
  driver: 'gpu.nvidia.com',
  product: 'NVIDIA-H100*',
  attributes: { type: 'mig', profile: '3g.40gb' },
};
const device = (node: string, profile: string, taken = false): ListedDevice => ({
  ...{ driver: match.driver, node, taken },
  attributes: { productName: 'NVIDIA H100 80GB HBM3', type: 'mig', profile },
});

test('devices that are meant are counted by node, others are not', () => {
  const devices = [device('a', '3g.40gb', true), device('a', '3g.40gb'), device('b', '3g.40gb', true)];
  expect(describeDevices(match, [...devices, device('b', '1g.10gb')])).toBe(
    'Of devices that the claim selects (NVIDIA-H100* mig 3g.40gb) are free: a 1 of 2, b 0 of 1. ' +
      'Free devices on a node, add a node that has them, or ask for fewer.',
  );
});

test('what a driver lists instead is named', () => {
  expect(describeDevices(match, [device('a', '1g.10gb')])).toContain(
    'gpu.nvidia.com lists NVIDIA H100 80GB HBM3 mig 1g.10gb: correct spec.accelerator.profile.',
  );
  expect(describeDevices(match, [])).toContain('gpu.nvidia.com lists none at all');
});

test('nodes beyond the first five are a number', () => {
  const devices = Array.from({ length: 7 }, (_, index) => device(`n${String(index)}`, '3g.40gb'));
  expect(describeDevices(match, devices)).toContain('n4 1 of 1, and 2 more nodes.');
});
