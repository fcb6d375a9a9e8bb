import { describe, expect, test } from '@jest/globals';
import { buildStatus } from './build-status.js';
import { transitions } from './events.js';
import { base, pod, verdict } from './observed.fixture.js';
import type { Observed } from './observed.js';

describe('a route to pods that speak HTTPS', () => {
  const gateway = { name: 'g', namespace: 'gateways' };
  const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({ type, status: 'True' }));
  const routed: Partial<Observed> = {
    scheme: 'https',
    routing: { state: 'planned', host: 'h', pathPrefix: '', gateway: { ...gateway, provider: 'gatewayApi' } },
    httpRoute: {
      apiVersion: 'x',
      kind: 'HTTPRoute',
      metadata: { name: 'demo' },
      status: { parents: [{ parentRef: gateway, controllerName: 'c', conditions }] },
    },
  };
  const policy = (judged: object[]): Partial<Observed> => ({
    backendTlsPolicy: {
      apiVersion: 'x',
      kind: 'BackendTLSPolicy',
      metadata: { name: 'demo', generation: 1 },
      status: { ancestors: [{ ancestorRef: gateway, conditions: judged as typeof conditions }] },
    },
  });
  const invalid = {
    type: 'ResolvedRefs',
    status: 'False',
    reason: 'InvalidCACertificateRef',
    message: 'no PEM',
  };
  const host = 'h';

  test.each<[string, Partial<Observed>, string]>([
    ['waits for the gateway to take its policy', {}, 'Unknown RoutePending'],
    ['of a gateway that knows no policies waits too', policy([]), 'Unknown RoutePending'],
    ['is there once it is taken', policy(conditions), 'True Accepted'],
    [
      'is refused with the policy',
      policy([{ type: 'Accepted', status: 'True' }, invalid]),
      'False InvalidCACertificateRef',
    ],
    [
      'is not there without the kind',
      { routing: { state: 'noBackendTls', host, forbidden: false } },
      'False BackendTlsPolicyMissing',
    ],
    [
      'nor without the right to it',
      { routing: { state: 'noBackendTls', host, forbidden: true } },
      'False RouteForbidden',
    ],
    [
      'nor without authorities',
      { routing: { state: 'noAuthority', host, message: 'It is gone.' } },
      'False CertificateAuthorityMissing',
    ],
  ])('%s', (_, change, expected) => {
    expect(verdict({ ...routed, ...change }, 'Routed')).toBe(expected);
  });
});

describe('a fallback', () => {
  const planned: Partial<Observed> = {
    routing: {
      state: 'planned',
      host: 'h',
      pathPrefix: '',
      gateway: { name: 'g', namespace: 'n', provider: 'istio' },
    },
    virtualService: { apiVersion: 'x', kind: 'VirtualService', metadata: { name: 'demo' } },
  };
  const active = {
    state: 'active',
    service: 'small',
    scheme: 'http',
    answers: true,
    recheckMs: null,
  } as const;
  const missing = { state: 'unfit', reason: 'FallbackMissing', message: 'small does not exist' } as const;
  const ready = [pod('a', { ready: true })];

  test.each<[string, Partial<Observed>, string, string]>([
    ['that answers', { fallback: active }, 'Routed', 'True Fallback'],
    ['that answers is not the service', { fallback: active }, 'Ready', 'False Starting'],
    ['that answers still', { fallback: active, pods: ready }, 'Ready', 'False Fallback'],
    ['that is missing and needed', { fallback: missing }, 'Routed', 'False FallbackMissing'],
    ['that is missing meanwhile', { fallback: missing, pods: ready }, 'Routed', 'True FallbackMissing'],
    ['that is missing stops nothing', { fallback: missing, pods: ready }, 'Ready', 'True Serving'],
  ])('%s', (_, change, type, expected) => {
    expect(verdict({ ...planned, pods: [pod('a')], ...change }, type)).toBe(expected);
  });

  test('is reported by an event when it begins to answer', () => {
    const before = buildStatus({ ...base, ...planned, pods: ready });
    const after = buildStatus({ ...base, ...planned, fallback: active, previous: before });
    expect(transitions(before, after)).toMatchObject([{ type: 'Warning', reason: 'Fallback' }]);
  });
});
