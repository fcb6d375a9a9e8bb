// Routes by istio and by the Gateway API, taken by a real API server with the definitions that the two publish, and what
// becomes of them when the service changes.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { LlmGatewayStatus } from '@llmservice/crds';
import { collectionPath, resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { Authority } from '../builders/certificates.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { Kubectl } from './kubectl.js';
import { World } from './operator-world.js';
import { installRouteCrds } from './published-crds.js';

jest.setTimeout(180_000);

let world: World;

const { virtualServices, destinationRules, httpRoutes, backendTlsPolicies } = resources;
const capabilities = { istioGateway: { name: 'ingress', namespace: 'istio-system' } };

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  const kubectl = new Kubectl(world.api.kubeConfig());
  await installRouteCrds(kubectl);
  await kubectl.installCrd('llmgateways');
  for (const each of [virtualServices, destinationRules, backendTlsPolicies]) {
    await eventually(each.plural, () =>
      world.api.admin.get(collectionPath(each, 'default')).catch(() => null),
    );
  }
  world.startOperator({ capabilities });
}, 180_000);

afterAll(() => world.stop());

const create = (name: string, routing: object) =>
  world.createService(name, {
    model: world.model('models/llama/'),
    resources: { limits: { memory: '1Gi' } },
    routing: { host: `${name}.example.org`, ...routing },
  });
const gone = (resource: (typeof resources)['httpRoutes' | 'virtualServices'], name: string) =>
  eventually(`no ${resource.kind}`, async () => (await world.get(resource, name)) === null);

test.each([
  ['a prefix without its host', { pathPrefix: '/x' }, 'spec.routing.pathPrefix'],
  ['a prefix that ends in a slash', { host: 'a.example.org', pathPrefix: '/x/' }, 'spec.routing.pathPrefix'],
  ['a provider that nobody knows', { host: 'a.example.org', provider: 'nginx' }, 'spec.routing.provider'],
])('%s is refused', async (_, routing, path) => {
  const refused = world.createService('refused', { model: { uri: 's3://b/m/' }, routing: routing as object });
  await expect(refused).rejects.toThrow(path);
});

describe('a service routed by istio', () => {
  test('has a VirtualService and a DestinationRule that istio accepts, and says what is known of them', async () => {
    await create('mesh', { provider: 'istio', pathPrefix: '/models/mesh' });
    const route = await eventually('the VirtualService', () => world.get(virtualServices, 'mesh'));
    expect(route).toMatchObject({
      spec: { hosts: ['mesh.example.org'], gateways: ['istio-system/ingress'] },
    });
    await eventually('the DestinationRule', () => world.get(destinationRules, 'mesh'));
    expect(await world.get(httpRoutes, 'mesh')).toBeNull();
    await world.condition('mesh', 'Routed', 'True', 'Applied');
    expect((await world.status('mesh')).url).toBe('http://mesh.example.org/models/mesh/');
  });

  test('stands beside a gateway of models, whose route istio accepts and of which nothing else is left', async () => {
    const { apiVersion, kind } = resources.llmGateways;
    const routing = { host: 'all.example.org', provider: 'istio' };
    await world.create({
      apiVersion,
      kind,
      metadata: { name: 'all', namespace: 'default' },
      spec: { routing },
    });
    const route = await eventually('its VirtualService', () => world.get(virtualServices, 'all-gateway'));
    const destination = { host: 'all-gateway.default.svc.cluster.local', port: { number: 80 } };
    expect(route).toMatchObject({
      spec: { hosts: [routing.host], http: [{ route: [{ destination }] }, {}, {}] },
    });
    await eventually('its DestinationRule', () => world.get(destinationRules, 'all-gateway'));
    const status = async () =>
      (await world.get(resources.llmGateways, 'all'))?.['status'] as LlmGatewayStatus | undefined;
    await eventually('its URL', async () => (await status())?.url === 'http://all.example.org/');
    await world.patch(resources.llmGateways, 'all', { spec: { routing: { provider: 'gatewayApi' } } });
    await eventually('its HTTPRoute', () => world.get(httpRoutes, 'all-gateway'));
    await gone(virtualServices, 'all-gateway');
  });

  test('reports what istio has against it', async () => {
    const validationMessages = [
      { level: 'ERROR', type: { name: 'ReferencedResourceNotFound', code: 'IST0101' } },
    ];
    await world.patch(virtualServices, 'mesh', { status: { validationMessages } }, '/status');
    const { message } = await world.condition('mesh', 'Routed', 'False', 'RouteRefused');
    expect(message).toContain('IST0101');
  });

  test('is written once: looking again changes nothing', async () => {
    const before = (await world.get(virtualServices, 'mesh'))?.metadata.generation;
    await world.patch(resources.llmServices, 'mesh', { spec: { replicas: 2 } });
    await eventually('the new generation', async () => (await world.status('mesh')).observedGeneration === 2);
    expect((await world.get(virtualServices, 'mesh'))?.metadata.generation).toBe(before);
  });

  test('moves to the Gateway API, and nothing of istio stays', async () => {
    await world.patch(resources.llmServices, 'mesh', { spec: { routing: { provider: 'gatewayApi' } } });
    const route = await eventually('the HTTPRoute', () => world.get(httpRoutes, 'mesh'));
    expect(JSON.stringify(route['spec'])).toContain('"replacePrefixMatch":"/v1"');
    await gone(virtualServices, 'mesh');
    await eventually('no DestinationRule', async () => (await world.get(destinationRules, 'mesh')) === null);
    await world.condition('mesh', 'Routed', 'Unknown', 'RoutePending');
    await world.acceptRoute('mesh');
    await world.condition('mesh', 'Routed', 'True', 'Accepted');
  });

  test('that wants no route any more has none', async () => {
    await world.patch(resources.llmServices, 'mesh', { spec: { routing: { provider: 'none' } } });
    await gone(httpRoutes, 'mesh');
    await world.condition('mesh', 'Routed', 'True', 'ClusterOnly');
  });
});

describe('a service whose pods speak HTTPS', () => {
  const authority = new Authority('pods');
  afterAll(() => authority.remove());
  const update = (spec: object) => world.patch(resources.llmServices, 'secure', { spec });
  const portOf = (route: KubeObject | null): number | undefined =>
    (route?.['spec'] as { rules: { backendRefs: { port: number }[] }[] } | undefined)?.rules[0]
      ?.backendRefs[0]?.port;

  test('has no route before there is something to verify its pods by', async () => {
    await world.makeCertificateSecret('secure', authority.issue('secure.default.svc'));
    await world.createService('secure', {
      model: world.model('models/llama/'),
      resources: { limits: { memory: '1Gi' } },
      tls: { secretRef: { name: 'secure' }, caConfigMapRef: { name: 'secure-ca' } },
      routing: { host: 'secure.example.org' },
    });
    const { message } = await world.condition('secure', 'Routed', 'False', 'CertificateAuthorityMissing');
    expect(message).toContain('The ConfigMap secure-ca does not exist');
    expect(await world.get(httpRoutes, 'secure')).toBeNull();
  });

  test('has a BackendTLSPolicy that the Gateway API accepts, and is routed once the gateway takes it', async () => {
    await world.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'secure-ca', namespace: 'default' },
      data: { 'ca.crt': authority.cert },
    });
    const policy = await eventually('the policy', () => world.get(backendTlsPolicies, 'secure'), 60_000);
    expect(policy['spec']).toEqual({
      targetRefs: [{ group: '', kind: 'Service', name: 'secure' }],
      validation: {
        caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'secure-ca' }],
        hostname: 'secure.default.svc',
      },
    });
    expect(portOf(await eventually('the route', () => world.get(httpRoutes, 'secure')))).toBe(443);
    await world.acceptRoute('secure');
    await eventually('the wait for the policy', async () => {
      const { message } = await world.condition('secure', 'Routed', 'Unknown', 'RoutePending');
      return message.includes('BackendTLSPolicy');
    });
    await world.judgePolicy('secure', { reason: 'InvalidCACertificateRef', message: 'no PEM' });
    await world.condition('secure', 'Routed', 'False', 'InvalidCACertificateRef');
    await world.judgePolicy('secure');
    await world.condition('secure', 'Routed', 'True', 'Accepted');
  });

  test('stands in for another, by its own port and policy', async () => {
    await create('front', { fallback: { service: 'secure' } });
    const route = await eventually('the route', () => world.get(httpRoutes, 'front'));
    expect(route).toMatchObject({
      spec: { rules: [{ backendRefs: [{ name: 'secure', port: 443 }] }] },
    });
    expect(await world.get(backendTlsPolicies, 'front')).toBeNull();
  });

  test('moves to istio, whose gateway verifies by the same ConfigMap, and no policy stays', async () => {
    await update({ routing: { provider: 'istio' } });
    const rule = await eventually('the DestinationRule', () => world.get(destinationRules, 'secure'));
    expect(rule).toMatchObject({
      spec: {
        exportTo: ['istio-system'],
        trafficPolicy: { tls: { mode: 'SIMPLE', credentialName: 'configmap://default/secure-ca' } },
      },
    });
    await eventually('no policy', async () => (await world.get(backendTlsPolicies, 'secure')) === null);
    await eventually('no stand-in of the other gateway', async () => {
      const route = await world.get(httpRoutes, 'front');
      return route?.metadata.annotations?.['llmservice.dev/fallback'] === undefined;
    });
  });

  test('that speaks plain HTTP again has no policy and its route the other port', async () => {
    await update({ routing: { provider: 'gatewayApi' } });
    await eventually('the policy', () => world.get(backendTlsPolicies, 'secure'));
    await update({ tls: { secretRef: null, caConfigMapRef: null } });
    await eventually('no policy', async () => (await world.get(backendTlsPolicies, 'secure')) === null);
    await eventually('the other port', async () => portOf(await world.get(httpRoutes, 'secure')) === 80);
  });
});

test('by itself a service takes the Gateway API, where both are there', async () => {
  await create('auto', {});
  await eventually('the HTTPRoute', () => world.get(httpRoutes, 'auto'));
  expect(await world.get(virtualServices, 'auto')).toBeNull();
});
