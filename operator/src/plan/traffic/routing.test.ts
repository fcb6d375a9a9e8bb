import { describe, expect, test } from '@jest/globals';
import { planRoute } from '../children.js';
import { planHttpRoute } from './http-route.js';
import { planIstioRoute } from './istio-route.js';
import { planRouting, type RoutingCapabilities } from './routing.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';

const gateway = { name: 'public', namespace: 'gateways' };
const istioGateway = { name: 'ingress', namespace: 'istio-system' };
const everything: RoutingCapabilities = {
  ...{ gateway, istioGateway, gatewayApi: true, istio: true },
  ...{ limits: { routeHosts: [] }, hostTaken: false },
  ...{ backendTls: true, authority: { state: 'none' } },
};
const host = 'demo.example.org';

describe('what carries a route', () => {
  test.each<[string, object, Partial<RoutingCapabilities>, string, string | undefined]>([
    ['nothing, without a host', {}, {}, 'none', undefined],
    ['nothing, where none is asked for', { host, provider: 'none' }, {}, 'none', undefined],
    ['the Gateway API before istio', { host }, {}, 'planned', 'gatewayApi'],
    ['istio, without a Gateway', { host }, { gateway: null }, 'planned', 'istio'],
    ['istio, where HTTPRoute is not known', { host }, { gatewayApi: false }, 'planned', 'istio'],
    ['istio, where it is asked for', { host, provider: 'istio' }, {}, 'planned', 'istio'],
    ['no gateway at all', { host }, { gateway: null, istioGateway: null }, 'noGateway', undefined],
    ['no gateway of istio', { host, provider: 'istio' }, { istioGateway: null }, 'noGateway', undefined],
    ['a cluster without istio', { host, provider: 'istio' }, { istio: false }, 'noApi', undefined],
    ['a host that another service has', { host }, { hostTaken: true }, 'hostTaken', undefined],
    [
      'a host of another namespace',
      { host },
      { limits: { routeHosts: [{ namespace: 'other', host: '*.example.org' }] } },
      'hostRefused',
      undefined,
    ],
    [
      'a host of its own namespace',
      { host },
      { limits: { routeHosts: [{ namespace: 'n*', host: '*.example.org' }] } },
      'planned',
      'gatewayApi',
    ],
    ['a cluster without either', { host }, { gatewayApi: false, istio: false }, 'noApi', undefined],
  ])('%s', (_, routing, change, state, provider) => {
    const planned = planRouting(wantedService({ routing }), { ...everything, ...change });
    expect(planned.state).toBe(state);
    expect(planned.state === 'planned' ? planned.gateway.provider : undefined).toBe(provider);
  });
});

const tls = { secretRef: { name: 'demo-tls' }, caConfigMapRef: { name: 'pods-ca' } };
const known = { authority: { state: 'known', pem: 'x' } } as const;

describe('a route to pods that speak HTTPS', () => {
  test.each<[string, object, Partial<RoutingCapabilities>, object]>([
    [
      'needs BackendTLSPolicy',
      {},
      { ...known, backendTls: false },
      { state: 'noBackendTls', forbidden: false },
    ],
    [
      'that the operator may read',
      {},
      { ...known, backendTls: false, forbidden: ['backendtlspolicies'] },
      { state: 'noBackendTls', forbidden: true },
    ],
    [
      'needs no such policy of istio',
      { provider: 'istio' },
      { ...known, backendTls: false },
      { state: 'planned' },
    ],
    [
      'needs authorities',
      {},
      { authority: { state: 'missing', message: 'The ConfigMap is not there.' } },
      { state: 'noAuthority', message: 'The ConfigMap is not there.' },
    ],
    ['of istio too', { provider: 'istio' }, {}, { state: 'noAuthority' }],
    ['is planned with both', {}, known, { state: 'planned' }],
  ])('%s', (_, routing, change, expected) => {
    const service = wantedService({ tls, routing: { host, ...routing } });
    expect(planRouting(service, { ...everything, ...change })).toMatchObject(expected);
  });

  test('by the Gateway API is verified under the name of the Service', () => {
    const service = wantedService({ tls, routing: { host } });
    expect(
      planRoute(service, {
        gateway: { ...gateway, provider: 'gatewayApi' },
        fallback: { state: 'none' },
        canary: { state: 'off' },
        pool: { state: 'none' },
      }),
    ).toMatchObject([
      {
        kind: 'BackendTLSPolicy',
        metadata: { name: 'demo', namespace: 'ns' },
        spec: {
          targetRefs: [{ group: '', kind: 'Service', name: 'demo' }],
          validation: {
            caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'pods-ca' }],
            hostname: 'demo.ns.svc',
          },
        },
      },
      { kind: 'HTTPRoute', spec: { rules: [{ backendRefs: [{ name: 'demo', port: 443 }] }] } },
    ]);
  });

  test('by istio is verified likewise, by its gateway alone', () => {
    const [route, rule] = planIstioRoute(wantedService({ tls, routing: { host } }), host, istioGateway, null);
    expect(route).toMatchObject({
      spec: { http: [{ route: [{ destination: { port: { number: 443 } } }] }, {}, {}] },
    });
    expect(rule).toMatchObject({
      spec: {
        exportTo: ['istio-system'],
        trafficPolicy: {
          tls: {
            mode: 'SIMPLE',
            sni: 'demo.ns.svc',
            subjectAltNames: ['demo.ns.svc'],
            credentialName: 'configmap://ns/pods-ca',
          },
        },
      },
    });
  });
});

const istio = (routing: object = {}) =>
  planIstioRoute(wantedService({ routing: { host, ...routing } }), host, istioGateway, null);

describe('by istio', () => {
  test('retries nothing and limits no stream', () => {
    const [route] = istio();
    const { http } = (route as never as { spec: { http: { timeout?: string }[] } }).spec;
    for (const each of http) expect(each).toMatchObject({ retries: { attempts: 0 } });
    expect(http.every(({ timeout }) => timeout === undefined)).toBe(true);
  });

  test('both objects mean the same Service, in full', () => {
    const service = 'demo.ns.svc.cluster.local';
    expect(istio()).toMatchObject([
      {
        kind: 'VirtualService',
        spec: {
          hosts: [host],
          gateways: ['istio-system/ingress'],
          http: [{ route: [{ destination: { host: service, port: { number: 80 } } }] }, {}, {}],
        },
      },
      { kind: 'DestinationRule', spec: { host: service } },
    ]);
  });

  test('a prefix ends where a segment does, and the server does not see it', () => {
    const rules = (routing: object) =>
      (istio(routing)[0] as never as { spec: { http: { match: object; rewrite?: object }[] } }).spec.http.map(
        ({ match, rewrite }) => ({ match, rewrite }),
      );
    expect(rules({})).toEqual([
      { match: [{ uri: { prefix: '/v1/' } }] },
      { match: [{ uri: { prefix: '/openai/' } }] },
      { match: [{ uri: { exact: '/health' } }] },
    ]);
    expect(rules({ pathPrefix: '/models/demo' })).toEqual([
      { match: [{ uri: { prefix: '/models/demo/v1/' } }], rewrite: { uri: '/v1/' } },
      { match: [{ uri: { prefix: '/models/demo/openai/' } }], rewrite: { uri: '/openai/' } },
      { match: [{ uri: { exact: '/models/demo/health' } }], rewrite: { uri: '/health' } },
    ]);
  });
});

test('by the Gateway API a prefix is taken off, and no rule has a time limit', () => {
  const route = planHttpRoute(wantedService({ routing: { host, pathPrefix: '/demo' } }), host, gateway, null);
  const { rules } = (route as never as { spec: { rules: { filters: object; matches: object }[] } }).spec;
  expect(rules).toMatchObject([
    {
      matches: [{ path: { type: 'PathPrefix', value: '/demo/v1' } }],
      filters: [{ urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/v1' } } }],
    },
    { matches: [{ path: { value: '/demo/openai' } }] },
    {
      matches: [{ path: { type: 'Exact', value: '/demo/health' } }],
      filters: [{ urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: '/health' } } }],
    },
  ]);
  for (const rule of rules) expect(rule).toMatchObject({ timeouts: { request: '0s' } });
});
