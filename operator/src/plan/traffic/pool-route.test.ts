import { describe, expect, test } from '@jest/globals';
import type { HttpRoute } from '../../kube/types.js';
import { gatewayTakes, leadsToPool, madeByIstio, poolQuestion } from './pool-route.js';

const backendRefs = [{ group: 'inference.networking.k8s.io', kind: 'InferencePool', name: 'demo' }];
const rule = { matches: [{ path: { type: 'Exact', value: '/v1/completions' } }], backendRefs };
const toService = { ...rule, backendRefs: [{ group: '', kind: 'Service', name: 'demo' }] };
const question = poolQuestion([rule]);

/** Of generation 2, as its gateway judges it. */
function route(
  rules: readonly object[],
  conditions: readonly object[] = [],
  controllerName = 'x/y',
): HttpRoute {
  const parents = [{ parentRef: { name: 'public', namespace: 'gateways' }, controllerName, conditions }];
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'demo', generation: 2 },
    spec: { rules },
    status: { parents },
  } as HttpRoute;
}
const taken = ['Accepted', 'ResolvedRefs'].map((type) => ({ type, status: 'True', observedGeneration: 2 }));

test.each([
  ['by a rule for completions', [toService, rule], true],
  ['not by the question', [toService, ...question], false],
  ['not by rules for the Service', [toService], false],
])('a route leads to a pool %s', (_, rules, expected) => {
  expect(leadsToPool(route(rules))).toBe(expected);
});

describe('a gateway takes a pool', () => {
  test.each<[string, HttpRoute, boolean]>([
    ['by what it says of the question', route(question, taken), true],
    ['not before it says anything', route(question), false],
    [
      'not by what it said of the route before',
      route(
        question,
        taken.map((each) => ({ ...each, observedGeneration: 1 })),
      ),
      false,
    ],
    ['not by half of it', route(question, taken.slice(0, 1)), false],
    [
      'not where it finds no pool',
      route(
        question,
        taken.map((each) => ({ ...each, status: 'False' })),
      ),
      false,
    ],
    ['not by what it says of a route without one', route([toService], taken), false],
  ])('%s', (_, asked, expected) => {
    expect(gatewayTakes(asked, 'public')).toBe(expected);
    expect(gatewayTakes(asked, 'other')).toBe(false);
  });
});

test('a gateway is istio’s by the name of its controller', () => {
  expect(madeByIstio(route(question, taken, 'istio.io/gateway-controller'), 'public')).toBe(true);
  expect(madeByIstio(route(question, taken), 'public')).toBe(false);
});
