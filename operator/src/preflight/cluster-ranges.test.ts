import { expect, test } from '@jest/globals';
import { endpointRanges, nodeRanges, serviceRanges } from './cluster-ranges.js';

const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' } };

test('Services have the ranges of their object', () => {
  expect(serviceRanges({ ...object, spec: { cidrs: ['11.0.0.0/16', 'fd00::/108'] } })).toEqual([
    '11.0.0.0/16',
    'fd00::/108',
  ]);
  expect(serviceRanges(object)).toEqual([]);
});

test('what stands behind a Service has its addresses', () => {
  const endpoints = [{ addresses: ['11.2.0.1'] }, {}, { addresses: ['2600::1', 'not.an.address'] }];
  expect(endpointRanges({ ...object, endpoints })).toEqual(['11.2.0.1', '2600::1']);
  // As the API has a slice without endpoints.
  expect(endpointRanges({ ...object, endpoints: null })).toEqual([]);
});

test('a node has the ranges of its pods and its own addresses, of which names are none', () => {
  const status = {
    addresses: [
      { type: 'InternalIP', address: '11.2.0.7' },
      { type: 'ExternalIP', address: '2600::7' },
      { type: 'Hostname', address: 'node-7' },
    ],
  };
  const spec = { podCIDR: '11.1.7.0/24', podCIDRs: ['11.1.7.0/24', '2600:1::/64'] };
  expect(nodeRanges({ ...object, spec, status })).toEqual([
    ...['11.1.7.0/24', '11.1.7.0/24', '2600:1::/64', '11.2.0.7', '2600::7'],
  ]);
  expect(nodeRanges(object)).toEqual([]);
});
