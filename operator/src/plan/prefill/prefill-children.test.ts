import { describe, expect, test } from '@jest/globals';
import type { V1Deployment } from '@kubernetes/client-node';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { children, templateInputs } from '../children.fixture.js';
import { planTemplate } from '../pods/planned-template.js';
import { strangeness } from '../identity/child-identity.js';

const gpus = { accelerator: { resourceName: 'nvidia.com/gpu', devices: 2, memoryPerDevice: '80Gi' } };
const apart = { ...gpus, disaggregation: { prefill: { replicas: 3 }, minPromptTokens: 1024 } };
const ofPrefill = (spec: object, change = {}) =>
  children(wantedService(spec), change).others.filter(({ metadata }) => metadata.name === 'demo-prefill');
const deployments = (spec: object, change = {}) => {
  const { deployment } = children(wantedService(spec), change);
  const [prefill] = ofPrefill(spec, change).filter(({ kind }) => kind === 'Deployment');
  return { decode: deployment as never as V1Deployment, prefill: prefill as never as V1Deployment };
};
const podOf = ({ spec }: V1Deployment) => spec!.template.spec!;
const runtimeOf = (deployment: V1Deployment) => podOf(deployment).containers[0]!;
const envOf = (deployment: V1Deployment) =>
  Object.fromEntries(runtimeOf(deployment).env!.map(({ name, value }) => [name, value]));

test('without the field there are no prefill pods, and pods are as before', () => {
  expect(ofPrefill(gpus)).toEqual([]);
  const { DISAGGREGATION_ROLE: role } = envOf(deployments(gpus).decode);
  expect(role).toBeUndefined();
});

describe('prefill pods', () => {
  const { decode, prefill } = deployments(apart);

  test('have objects that are the service’s own', () => {
    const owner = { namespace: 'ns', name: 'demo', uid: 'uid-1' };
    expect(ofPrefill(apart).map(({ kind }) => kind)).toEqual([
      ...['NetworkPolicy', 'Deployment', 'Service', 'PodDisruptionBudget'],
    ]);
    expect(ofPrefill(apart).map((object) => strangeness(object, owner))).toEqual([null, null, null, null]);
  });

  test('are of the revision of decode pods, with their config, weights, devices and places', () => {
    const notes = ({ spec }: V1Deployment) => spec!.template.metadata!.annotations;
    expect(notes(prefill)).toEqual(notes(decode));
    const { env, ports } = runtimeOf(prefill);
    const containers = [{ ...(runtimeOf(decode) as object), env, ports }];
    expect(podOf(prefill)).toEqual({ ...(podOf(decode) as object), containers });
    expect(runtimeOf(prefill).resources!.limits).toMatchObject({ 'nvidia.com/gpu': '2' });
  });

  test('differ in what they do', () => {
    const common = { PREFILL_PORT: '8030', KV_TRANSFER_PORT: '8040' };
    const asks = { PREFILL_HOST: 'demo-prefill', PREFILL_MIN_TOKENS: '1024' };
    expect(envOf(decode)).toMatchObject({ ...common, ...asks, DISAGGREGATION_ROLE: 'decode' });
    expect(envOf(prefill)).toMatchObject({ ...common, DISAGGREGATION_ROLE: 'prefill' });
    expect(Object.keys(envOf(prefill))).toEqual(
      Object.keys(envOf(decode)).filter((name) => !Object.keys(asks).includes(name)),
    );
    expect(runtimeOf(prefill).ports!.map(({ containerPort }) => containerPort)).toEqual([
      8080, 8030, 8040, 8041,
    ]);
  });

  test('are selected by nothing that selects decode pods', () => {
    const { labels } = prefill.spec!.template.metadata!;
    expect(labels).toMatchObject({ 'llmservice.dev/prefill': 'demo' });
    expect(labels).not.toHaveProperty(['llmservice.dev/service']);
    expect(prefill.spec!.selector.matchLabels).toEqual({ 'llmservice.dev/prefill': 'demo' });
    expect(decode.spec!.template.metadata!.labels).not.toHaveProperty(['llmservice.dev/prefill']);
  });

  test('are spread among each other by default, and as the spec says', () => {
    const each = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
    const own = { ...each, labelSelector: { matchLabels: { team: 'a' } } };
    const spread = deployments({ ...apart, topologySpreadConstraints: [each, own] });
    expect(podOf(spread.prefill).topologySpreadConstraints).toEqual([
      { ...each, labelSelector: { matchLabels: { 'llmservice.dev/prefill': 'demo' } } },
      own,
    ]);
  });

  test('are replaced one by one, without a device more than there is', () => {
    const { rollingUpdate } = prefill.spec!.strategy!;
    expect(rollingUpdate).toEqual({ maxSurge: 0, maxUnavailable: 1 });
  });

  test('are none while there are no decode pods', () => {
    expect(prefill.spec!.replicas).toBe(3);
    expect(deployments(apart, { replicas: 0 }).prefill.spec!.replicas).toBe(0);
  });

  test('are none beside decode pods of a revision that asks nobody', () => {
    const before = planTemplate(wantedService(gpus), templateInputs);
    expect(ofPrefill(apart, { template: before })).toEqual([]);
  });

  test('have resources of their own where the spec says so, and the devices of decode pods', () => {
    const resources = { requests: { cpu: 8, 'nvidia.com/gpu': 1 }, limits: { memory: '64Gi' } };
    const disaggregation = { prefill: { resources } };
    const found = runtimeOf(deployments({ ...gpus, disaggregation }).prefill).resources;
    expect(found).toEqual({
      requests: { cpu: 8, memory: '64Gi', 'nvidia.com/gpu': '2', 'ephemeral-storage': expect.any(String) },
      limits: { memory: '64Gi', 'nvidia.com/gpu': '2' },
    });
  });
});

test('decode pods alone reach prompts and KV blocks, and who may reach them reaches metrics', () => {
  const policyOf = (spec: object) => ofPrefill(spec).find(({ kind }) => kind === 'NetworkPolicy') as never;
  const decodePods = {
    from: [{ podSelector: { matchLabels: { 'llmservice.dev/service': 'demo' } } }],
    ports: [
      { port: 8030, protocol: 'TCP' },
      { port: 8040, endPort: 8079, protocol: 'TCP' },
    ],
  };
  const metrics = [{ port: 8080, protocol: 'TCP' }];
  expect(policyOf(apart)).toMatchObject({
    spec: {
      podSelector: { matchLabels: { 'llmservice.dev/prefill': 'demo' } },
      policyTypes: ['Ingress'],
      ingress: [{ ports: metrics }, decodePods],
    },
  });
  const from = [{ namespaceSelector: { matchLabels: { team: 'a' } } }];
  const { spec } = policyOf({ ...apart, networkPolicy: { from } }) as { spec: { ingress: object[] } };
  expect(spec.ingress).toMatchObject([{ from: [...from, {}], ports: metrics }, decodePods]);
});
