import { describe, expect, test } from '@jest/globals';
import { fieldManager, labels, pickerName } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { children } from '../children.fixture.js';
import { strangeness } from '../identity/child-identity.js';
import { planEndpointPicker } from './endpoint-picker.js';
import { optionalChildren } from '../../watch/optional-children.js';
import { planNetworkPolicy } from './network-policy.js';

const service = wantedService({ routing: { host: 'demo.example.org', backend: 'inferencePool' } });
const objects = planEndpointPicker(service, { image: 'picker:1', byIstio: false });
const one = (kind: string): KubeObject & Record<string, never> =>
  objects.find((each) => each.kind === kind) as never;

describe('an endpoint picker', () => {
  test('is of objects that belong to the service and to nobody else', () => {
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'InferencePool demo',
      'ServiceAccount demo-picker',
      'Role demo-picker',
      'RoleBinding demo-picker',
      'Deployment demo-picker',
      'Service demo-picker',
    ]);
    for (const each of objects) expect(strangeness(each, service)).toBeNull();
  });

  test('is asked for the pods that the Service has, at the port of the container', () => {
    expect(one('InferencePool')).toMatchObject({
      spec: {
        selector: { matchLabels: { [labels.service]: 'demo' } },
        targetPorts: [{ number: 8080 }],
        endpointPickerRef: { name: 'demo-picker', port: { number: 9002 }, failureMode: 'FailOpen' },
      },
    });
  });

  test('is none of the pods that it chooses among, and is found by its own Service', () => {
    const { template, selector } = one('Deployment')['spec'] as never as {
      template: { metadata: { labels: Record<string, string> } };
      selector: { matchLabels: object };
    };
    expect(template.metadata.labels).toEqual({
      [labels.picker]: 'demo',
      [labels.name]: pickerName,
      [labels.instance]: 'demo',
      [labels.managedBy]: fieldManager,
    });
    expect(selector.matchLabels).toEqual({ [labels.picker]: 'demo' });
    expect(one('Service')).toMatchObject({ spec: { selector: { [labels.picker]: 'demo' } } });
  });

  test('may watch and change nothing, as a user that is not root', () => {
    const { rules } = one('Role') as never as { rules: { verbs: string[] }[] };
    for (const { verbs } of rules) expect(verbs).toEqual(['list', 'watch']);
    expect(one('Deployment')).toMatchObject({
      spec: {
        template: {
          spec: {
            serviceAccountName: 'demo-picker',
            securityContext: { runAsNonRoot: true },
            containers: [
              {
                image: 'picker:1',
                args: expect.arrayContaining(['--pool-name=demo', '--pool-namespace=ns']),
              },
            ],
          },
        },
      },
    });
  });

  test('is pulled and placed as the pods of the service are', () => {
    const placed = {
      nodeSelector: { pool: 'tenant' },
      affinity: { nodeAffinity: {} },
      priorityClassName: 'serving',
      imagePullSecrets: [{ name: 'registry' }],
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    };
    const [deployment] = planEndpointPicker(wantedService(placed), {
      image: 'picker:1',
      byIstio: false,
    }).filter(({ kind }) => kind === 'Deployment');
    expect(deployment).toMatchObject({ spec: { template: { spec: placed } } });
  });

  test('comes before the route that leads to its pool', () => {
    const kinds = children(service, {
      pool: { state: 'planned', image: 'picker:1', awaits: null, byIstio: false },
    }).others.map(({ kind }) => kind);
    expect(kinds.indexOf('InferencePool')).toBeGreaterThan(-1);
    expect(kinds.indexOf('InferencePool')).toBeLessThan(kinds.indexOf('HTTPRoute'));
    expect(children(service).others.map(({ kind }) => kind)).not.toContain('InferencePool');
  });
});

test('a NetworkPolicy lets the picker read the metrics of the pods, where there is one', () => {
  const networkPolicy = { from: [{ namespaceSelector: {} }] };
  const from = (routing: object): string =>
    JSON.stringify(planNetworkPolicy(wantedService({ networkPolicy, routing }), 'system'));
  const peer = `{"podSelector":{"matchLabels":{"${labels.picker}":"demo"}}}`;
  expect(from({ host: 'demo.example.org', backend: 'inferencePool' })).toContain(peer);
  expect(from({ host: 'demo.example.org' })).not.toContain(labels.picker);
});

test('istio’s gateways speak TLS to the picker, whose certificate is its own', () => {
  const rule = planEndpointPicker(service, { image: 'picker:1', byIstio: true }).find(
    ({ kind }) => kind === 'DestinationRule',
  )!;
  // As the chart of the inference extension has it.
  expect(rule).toMatchObject({
    metadata: { name: 'demo-picker' },
    spec: {
      host: 'demo-picker.ns.svc.cluster.local',
      trafficPolicy: { tls: { mode: 'SIMPLE', insecureSkipVerify: true } },
    },
  });
  expect(strangeness(rule, service)).toBeNull();
  const removed = optionalChildren('demo').map(([{ kind }, name]) => `${kind} ${name}`);
  expect(removed).toContain('DestinationRule demo-picker');
});

test('a second NetworkPolicy lets those that reach the pods ask the picker, and nobody else', () => {
  const from = [{ namespaceSelector: { matchLabels: { gateways: 'here' } } }];
  const closed = { ...service, spec: { ...service.spec, networkPolicy: { from } } };
  const policy = planEndpointPicker(closed, { image: 'picker:1', byIstio: false }).find(
    ({ kind }) => kind === 'NetworkPolicy',
  )!;
  expect(policy).toMatchObject({
    metadata: { name: 'demo-picker' },
    spec: {
      podSelector: { matchLabels: { [labels.picker]: 'demo' } },
      policyTypes: ['Ingress'],
      ingress: [{ from, ports: [9002, 9090].map((port) => ({ port, protocol: 'TCP' })) }],
    },
  });
  expect(strangeness(policy, closed)).toBeNull();
  const removed = optionalChildren('demo').map(([{ kind }, name]) => `${kind} ${name}`);
  expect(removed).toContain('NetworkPolicy demo-picker');
});
