import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../kube/types.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import {
  activatorEndpoints,
  planActivatorEndpoints,
  type ActivatorEndpoints,
} from './activator-endpoints.js';

const slice = (addressType: string, ...addresses: string[]): KubeObject =>
  planActivatorEndpoints(wantedService(), { addressType, addresses });

describe('the activator’s endpoints', () => {
  test.each<[string, string[], KubeObject | null, ActivatorEndpoints | null]>([
    ['have the family of the pods', ['192.0.2.1'], null, { addressType: 'IPv4', addresses: ['192.0.2.1'] }],
    [
      'are those of one family',
      ['2001:db8::1', '192.0.2.1'],
      null,
      { addressType: 'IPv6', addresses: ['2001:db8::1'] },
    ],
    [
      'keep it while no pod is ready',
      [],
      slice('IPv6', '2001:db8::1'),
      { addressType: 'IPv6', addresses: [] },
    ],
    ['are not made before one is', [], null, null],
    ['go where their family has changed', ['2001:db8::1'], slice('IPv4'), null],
  ])('%s', (_, addresses, live, expected) => {
    expect(activatorEndpoints(addresses, live)).toEqual(expected);
  });

  test('are ready ones behind the service’s own Service', () => {
    expect(slice('IPv6', '2001:db8::1')).toMatchObject({
      metadata: { name: 'demo-activator', labels: { 'kubernetes.io/service-name': 'demo' } },
      addressType: 'IPv6',
      endpoints: [{ addresses: ['2001:db8::1'], conditions: { ready: true } }],
      ports: [{ name: 'http' }],
    });
  });
});
