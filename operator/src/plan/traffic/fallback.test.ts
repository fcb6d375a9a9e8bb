import { describe, expect, test } from '@jest/globals';
import { annotations, api } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { fallbackHeaders, planFallback, type FallbackInputs, type FallbackTarget } from './fallback.js';
import { planHttpRoute } from './http-route.js';
import { planIstioRoute } from './istio-route.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';

const gateway = { name: 'public', namespace: 'gateways' };
const host = 'demo.example.org';
const service = wantedService({
  model: { uri: 's3://bucket/folder/', name: 'big', aliases: ['large/one'] },
  routing: { host, fallback: { service: 'small' } },
});

function other(spec: object = {}, status: object = {}): KubeObject {
  return {
    apiVersion: api.groupVersion,
    kind: api.kind,
    metadata: { name: 'small', namespace: 'ns', uid: 'uid-2' },
    spec: { model: { uri: 's3://bucket/small/' }, ...spec },
    status,
  };
}

const serving = { conditions: [{ type: 'Serving', status: 'True', reason: 'Answering' }] };
const small = { service: 'small', scheme: 'http' } as const;
const routeTo = (fallback: FallbackTarget | null): KubeObject =>
  planHttpRoute(service, host, gateway, fallback);

const plan = (change: Partial<FallbackInputs>) =>
  planFallback({
    service,
    other: other({}, serving),
    otherVerified: false,
    route: routeTo(null),
    answeringMs: 60_000,
    asleep: false,
    ...change,
  });
const active = { state: 'active', ...small, answers: true };

describe('another service stands in', () => {
  test.each<[string, Partial<FallbackInputs>, object]>([
    ['not while a pod answers', {}, { state: 'standby' }],
    ['once none does', { answeringMs: null }, { ...active, recheckMs: null }],
    ['from the start', { answeringMs: null, route: null }, { ...active, recheckMs: null }],
    [
      'until a pod has answered for a while',
      { route: routeTo(small), answeringMs: 2_000 },
      { ...active, recheckMs: 3_000 },
    ],
    ['no longer than that', { route: routeTo(small), answeringMs: 5_000 }, { state: 'standby' }],
    // An old pod went, a new one has come just now.
    ['not where a younger pod took over', { answeringMs: 1_000 }, { state: 'standby' }],
    ['not while the activator holds requests', { answeringMs: null, asleep: true }, { state: 'standby' }],
    [
      'also where it does not answer itself, which is reported',
      { answeringMs: null, other: other() },
      { ...active, answers: false },
    ],
    ['not where nobody asked', { service: wantedService({ routing: { host } }) }, { state: 'none' }],
  ])('%s', (_, change, expected) => {
    expect(plan({ ...change })).toMatchObject(expected);
  });

  test.each<[string, KubeObject | null, string, string]>([
    ['that does not exist', null, 'FallbackMissing', 'Create it'],
    [
      'that speaks HTTPS unverified',
      other({ tls: { secretRef: { name: 'x' } } }),
      'FallbackUnfit',
      'tls.secretRef',
    ],
    [
      'that would let in who has no key',
      other({ auth: { keysSecretRef: { name: 'x' } } }),
      'FallbackUnfit',
      'keysSecretRef',
    ],
    [
      'of vLLM, which does not know the name',
      other({ engine: { runtime: 'vllm' } }),
      'FallbackUnfit',
      'Add big to its model.aliases',
    ],
  ])('never one %s', (_, named, reason, remedy) => {
    expect(plan({ other: named, answeringMs: null })).toMatchObject({
      state: 'unfit',
      reason,
      message: expect.stringContaining(remedy),
    });
  });

  test('one that speaks HTTPS may, where the gateway verifies it, and by its own port', () => {
    const named = other({ tls: { secretRef: { name: 'x' }, caConfigMapRef: { name: 'ca' } } });
    const planned = plan({ other: named, otherVerified: true, answeringMs: null });
    expect(planned).toMatchObject({ ...active, scheme: 'https', answers: false });
    const target = { service: 'small', scheme: 'https' } as const;
    expect(routeTo(target)).toMatchObject({
      spec: { rules: [{ backendRefs: [{ name: 'small', port: 443 }] }] },
    });
    const destination = { host: 'small.ns.svc.cluster.local', port: { number: 443 } };
    expect(planIstioRoute(service, host, gateway, target)[0]).toMatchObject({
      spec: { http: [{ route: [{ destination }] }, {}, {}] },
    });
  });

  test('vLLM may, where it answers to the name', () => {
    const named = other({
      model: { uri: 's3://bucket/small/', aliases: ['big'] },
      engine: { runtime: 'vllm' },
    });
    expect(plan({ other: named, answeringMs: null }).state).toBe('active');
  });
});

describe('the route', () => {
  test('by the Gateway API leads to the other, passes it the names, and clients who answers', () => {
    const route = routeTo(small) as never as { metadata: object; spec: { rules: object[] } };
    expect(route.metadata).toMatchObject({ annotations: { [annotations.fallback]: 'small' } });
    expect(route.spec.rules).toMatchObject([
      {
        backendRefs: [{ name: 'small' }],
        filters: [
          { requestHeaderModifier: { set: [{ name: 'x-llmservice-fallback-for', value: 'big,large/one' }] } },
          { responseHeaderModifier: { set: [{ name: 'x-llmservice-fallback', value: 'small' }] } },
          { urlRewrite: { hostname: 'small.ns.svc' } },
        ],
      },
    ]);
  });

  test('by the Gateway API has one rewrite for host and path', () => {
    const prefixed = wantedService({ routing: { host, pathPrefix: '/big', fallback: { service: 'small' } } });
    const { rules } = (
      planHttpRoute(prefixed, host, gateway, small) as never as {
        spec: { rules: { filters: { type: string }[] }[] };
      }
    ).spec;
    for (const { filters } of rules) {
      expect(filters.filter(({ type }) => type === 'URLRewrite')).toHaveLength(1);
      expect(filters.at(-1)).toMatchObject({
        urlRewrite: { hostname: 'small.ns.svc', path: expect.anything() },
      });
    }
  });

  test('by istio leads to the other too', () => {
    const [route] = planIstioRoute(service, host, gateway, small) as never as {
      spec: { http: object[] };
    }[];
    expect(route?.spec.http[0]).toMatchObject({
      route: [{ destination: { host: 'small.ns.svc.cluster.local' } }],
      rewrite: { authority: 'small.ns.svc' },
      headers: {
        request: { set: { 'x-llmservice-fallback-for': 'big,large/one' } },
        response: { set: { 'x-llmservice-fallback': 'small' } },
      },
    });
  });

  test('has a header that fits, however many names there are', () => {
    const aliases = Array.from({ length: 16 }, (_, index) => `n${String(index)}`.padEnd(253, 'x'));
    const many = wantedService({
      model: { uri: 's3://b/m/', name: 'm'.repeat(253), aliases },
      routing: { host },
    });
    const [value = ''] = Object.values(fallbackHeaders(many, 'small').request);
    expect(value.length).toBeLessThanOrEqual(4096);
  });
});
