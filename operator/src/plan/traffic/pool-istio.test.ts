import { expect, test } from '@jest/globals';
import type { HttpRoute, KubeObject } from '../../kube/types.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { planHttpRoute } from './http-route.js';
import { planPool, type PoolCapabilities } from './pool.js';

const host = 'demo.example.org';
const service = wantedService({ routing: { host, backend: 'inferencePool' } });
const gateway = { name: 'public', namespace: 'gateways', provider: 'gatewayApi' } as const;
const able = { endpointPickerImage: 'picker:1', inferencePools: true, destinationRules: true };
const ownedBy = (uid: string): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Any' },
  metadata: { name: 'demo-picker', ownerReferences: [{ uid, controller: true }] as never },
});
const own = ownedBy(service.uid);

/** istio takes the route, which leads to the pool or asks for it. */
function planned(
  leads: boolean,
  pickerRule: KubeObject | null,
  capabilities: PoolCapabilities = able,
  controllerName = 'istio.io/gateway-controller',
) {
  const before = {
    state: 'planned',
    image: 'picker:1',
    awaits: leads ? null : 'gateway',
    byIstio: false,
  } as const;
  const route = planHttpRoute(service, host, gateway, null, null, before) as HttpRoute;
  const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({ type, status: 'True' }));
  const parents = [{ parentRef: { name: gateway.name }, controllerName, conditions }];
  return planPool({
    service,
    routing: { state: 'planned', host, pathPrefix: '', gateway },
    capabilities,
    ...{ pool: own, picker: { ...own, status: { readyReplicas: 1 } }, pickerService: own, pickerRule },
    route: { ...route, status: { parents } },
    now: '2026-11-30T12:00:00Z',
  });
}

test.each<[string, boolean, KubeObject | null, string | null]>([
  ['not before there is one', false, null, 'picker'],
  ['no longer where it was removed', true, null, 'picker'],
  ['not by one of somebody else', true, ownedBy('other'), 'picker'],
  ['with one of its own', false, own, null],
])('a route of istio leads to a pool by the DestinationRule of the picker: %s', (_, leads, rule, awaits) => {
  expect(planned(leads, rule)).toMatchObject({ state: 'planned', byIstio: true, awaits });
});

test('a gateway of others needs none', () => {
  const without = { ...able, destinationRules: false };
  expect(planned(false, null, without, 'example.org/gateway')).toMatchObject({
    byIstio: false,
    awaits: null,
  });
});

test.each<[string, PoolCapabilities, string]>([
  ['does not know', { ...able, destinationRules: false }, 'DestinationRuleMissing'],
  [
    'does not show',
    { ...able, destinationRules: false, forbidden: ['destinationrules'] },
    'DestinationRuleForbidden',
  ],
])('behind istio there is no pool in a cluster that %s DestinationRules', (_, capabilities, reason) => {
  expect(planned(true, own, capabilities)).toMatchObject({ state: 'unfit', reason });
});
