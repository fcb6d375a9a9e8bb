// What the operator's chart renders: which values it takes, the pods and labels, and the rights of the activator.

import { afterAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { leaseName } from '../../operator/src/operator.js';
import { parseOptions } from '../../operator/src/options.js';
import { Helm } from './helm.js';

const helm = new Helm();
afterAll(() => helm.remove());

describe('the operator’s chart', () => {
  interface Workload {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly selector: { readonly matchLabels: object };
      readonly template: {
        readonly metadata: { readonly annotations?: object; readonly labels: Record<string, string> };
        readonly spec: {
          readonly affinity?: object;
          readonly containers: { image: string; env: { name: string; value?: string }[] }[];
        };
      };
    };
  }
  const deployments = async (name: string, ...args: string[]) =>
    parseAllDocuments(await helm.release(name, 'llmservice-operator', ...args))
      .map((document) => document.toJS() as Workload)
      .filter(({ kind }) => kind === 'Deployment')
      // The operator's first.
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

  it('gives a release a Lease and activators of its own only where the values ask for it', async () => {
    const chosen = async (name: string, ...args: string[]) => {
      const [operator, activator] = await deployments(name, ...args);
      const env = operator?.spec.template.spec.containers[0]?.env ?? [];
      return {
        lease: leaseName(env.find((each) => each.name === 'OPERATOR_INSTANCE')?.value ?? null),
        activators: activator?.spec.template.metadata.labels['llmservice.dev/instance'],
      };
    };
    // Of any name: releases of older charts have this Lease, and old pods and new ones are to have the same.
    const alone = { lease: 'llmservice-operator', activators: undefined };
    expect(await chosen('team-a')).toEqual(alone);
    expect(await chosen('team-a', '--set', 'instance=null')).toEqual(alone);
    expect(await chosen('op', '--set', 'instance=team-a')).toEqual({ lease: 'team-a', activators: 'team-a' });
    for (const taken of ['llmservice-operator', 'Team A']) {
      await expect(deployments('op', '--set', `instance=${taken}`)).rejects.toThrow(/instance/);
    }
  });

  it('selects pods by labels that never change', async () => {
    const selectors = async (...args: string[]) =>
      (await deployments('op', ...args)).map(({ spec }) => spec.selector.matchLabels);
    const expected = ['operator', 'activator'].map((name) => ({
      'app.kubernetes.io/name': `llmservice-${name}`,
      'app.kubernetes.io/instance': 'op',
    }));
    expect(await selectors()).toEqual(expected);
    expect(await selectors('--set', 'instance=team-a')).toEqual(expected);
  });

  it('gives the activator a certificate where the values ask for it, and the operator the news', async () => {
    const chosen = async (...args: string[]) => {
      const text = await helm.template('llmservice-operator', ...args);
      return ['ACTIVATOR_TLS', 'TLS_DIR', 'containerPort: 8084', 'secretName: "cert"'].map((each) =>
        text.includes(each),
      );
    };
    expect(await chosen()).toEqual([false, false, false, false]);
    const named = ['--set', 'activator.tls.secretName=cert'];
    expect(await chosen(...named)).toEqual([true, true, true, true]);
    expect((await chosen(...named, '--set', 'activator.enabled=false'))[0]).toBe(false);
  });

  it('treats the activator’s pods as the operator’s, but for what these keep near or away from', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const image = ['--set', `image.repository=example.org/operator,image.digest=${digest}`];
    const pods = ['--set', 'podAnnotations.a=b,affinity.nodeAffinity.c=d,affinity.podAntiAffinity.e=f'];
    const found = await deployments('op', ...image, ...pods);
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['op', 'op-activator']);
    for (const { metadata, spec } of found.map((each) => each.spec.template)) {
      expect(metadata.annotations).toEqual({ a: 'b' });
      expect(spec.containers[0]?.image).toBe(`example.org/operator@${digest}`);
    }
    // What prepares folders of nodes, as root, is this image and no other.
    const own = { name: 'OPERATOR_IMAGE', value: `example.org/operator@${digest}` };
    expect(found[0]?.spec.template.spec.containers[0]?.env).toContainEqual(own);
    const nodeAffinity = { c: 'd' };
    expect(found.map(({ spec }) => spec.template.spec.affinity)).toEqual([
      { nodeAffinity, podAntiAffinity: { e: 'f' } },
      { nodeAffinity },
    ]);
  });

  it.each([
    ['concurrency', 'concurrency=65'],
    ['allowHostPaths', 'allowHostPaths={/a/../b}'],
    ['allowHostPaths', 'allowHostPaths={/a/.}'],
    ['allowHostPaths', 'allowHostPaths={/}'],
    ['allowHostPaths', 'allowHostPaths={/a/}'],
    ['publicAddress', 'publicAddress=https://a?b'],
    ['prometheus', 'prometheus.url=http:///x'],
    ['digest', 'image.digest=latest'],
    ['endpoints', 'endpoints.allowed={http://s3.example.org}'],
    ['endpoints', 'endpoints.refused={s3.example.org}'],
    ['images', 'images.allowed={a b}'],
    ['serviceAccounts', 'serviceAccounts.allowed={reader}'],
    ['routing', 'routing.hosts.team-a={https://x}'],
    ...['vllmImages', 'runtimeImages', 'activator', 'istio', 'prometheus', 'crd'].map((parent) => [
      parent,
      `${parent}=null`,
    ]),
  ])('refuses what the operator would end with: %s, %s', async (field, value) => {
    await expect(helm.template('llmservice-operator', '--set', value)).rejects.toThrow(
      new RegExp(`values don't meet the specifications[^]*${field}`),
    );
  });

  it('hands what manifests may name to the operator as it reads it', async () => {
    const values = [
      'endpoints.allowed={s3.storage.svc,*.s3.example.org,10.2.0.0/16}',
      'endpoints.refused={203.0.114.0/24}',
      'images.allowed={registry.example.org/team/*}',
      'serviceAccounts.allowed={team-a/reader}',
      'routing.hosts.team-a={*.a.example.org,llm.example.org}',
    ];
    const [operator] = await deployments('op', ...values.flatMap((value) => ['--set', value]));
    const env = operator?.spec.template.spec.containers[0]?.env ?? [];
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const { endpoints, capabilities } = parseOptions([], { ...variables, POD_NAMESPACE: 'x' });
    expect({ endpoints, limits: capabilities.limits }).toEqual({
      endpoints: {
        allowed: ['s3.storage.svc', '*.s3.example.org', '10.2.0.0/16'],
        refused: ['203.0.114.0/24'],
      },
      limits: {
        images: ['registry.example.org/team/*'],
        serviceAccounts: ['team-a/reader'],
        routeHosts: ['*.a.example.org', 'llm.example.org'].map((host) => ({ namespace: 'team-a', host })),
      },
    });
  });

  it.each(['concurrency=64', 'allowHostPaths={/a/..b,/c.d}', 'publicAddress=https://lb.example.org:443'])(
    'takes %s',
    async (value) => {
      expect(await helm.template('llmservice-operator', '--set', value)).toContain('kind: Deployment');
    },
  );
});

describe('the activator under the chart’s RBAC', () => {
  const objects = async (...args: string[]) =>
    parseAllDocuments(await helm.template('llmservice-operator', ...args)).map(
      (document) => document.toJS() as { kind: string; metadata: { name: string }; rules: object[] },
    );
  const mine = async (...args: string[]) =>
    (await objects(...args)).filter(({ metadata }) => metadata.name === 'llmservice-operator-activator');

  it('may read services and pods and note a request, and nothing else', async () => {
    const role = (await mine()).find(({ kind }) => kind === 'ClusterRole');
    expect(role?.rules).toEqual([
      { apiGroups: ['llmservice.dev'], resources: ['llmservices'], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    ]);
    const namespaced = await mine('--set', 'watchNamespace=experimental');
    expect(namespaced.map(({ kind }) => kind).sort()).toEqual([
      ...['Deployment', 'PodDisruptionBudget', 'Role', 'RoleBinding', 'ServiceAccount'],
    ]);
  });

  it('is not there where it is not enabled', async () => {
    expect(await mine('--set', 'activator.enabled=false')).toEqual([]);
  });
});
