// What the charts render, as a real API server takes it: every object of every environment, strictly checked, and
// what the operator may do under the chart's own RBAC.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { leaseName } from '../../operator/src/operator.js';
import { parseOptions } from '../../operator/src/options.js';
import { ApiServer } from './api-server.js';
import { Kubectl } from './kubectl.js';
import { toolFolders } from '../processes.js';

const startTimeoutMs = 600_000;
const root = fileURLToPath(new URL('../..', import.meta.url));
let server: ApiServer;
let kubectl: Kubectl;
let helmHome: string;
let helm: string;

beforeAll(async () => {
  const [folder = ''] = toolFolders('helm');
  helm = join(folder, 'helm');
  helmHome = await mkdtemp(join(tmpdir(), 'llmservice-helm-'));
  server = await ApiServer.start();
  kubectl = new Kubectl(server.kubeConfig());
  await kubectl.installCrd();
  for (const namespace of ['llmservice-system', 'experimental', 'istio-system']) {
    await kubectl.output(['create', 'namespace', namespace]);
  }
}, startTimeoutMs);
afterAll(async () => {
  await server.stop();
  await rm(helmHome, { recursive: true, force: true });
});

const render = async (program: string, args: readonly string[]): Promise<string> => {
  const homes = { HELM_CACHE_HOME: helmHome, HELM_CONFIG_HOME: helmHome, HELM_DATA_HOME: helmHome };
  const env = { ...process.env, ...homes };
  const { stdout } = await promisify(execFile)(program, args, { cwd: root, env, maxBuffer: 2 ** 26 });
  return stdout;
};
const release = (name: string, chart: string, ...args: string[]) =>
  render(helm, ['template', name, `charts/${chart}`, '--kube-version', '1.34.3', ...args]);
const template = (chart: string, ...args: string[]) => release('llmservice-operator', chart, ...args);
const dryRun = (manifests: string) =>
  kubectl.run(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], manifests);

describe('helmfile', () => {
  let helmfile: string;

  beforeAll(() => {
    const [folder = ''] = toolFolders('helmfile');
    helmfile = join(folder, 'helmfile');
  }, startTimeoutMs);

  it.each([
    ['ml-serve-eqiad', 'qwen36-27b'],
    ['ml-staging-codfw', 'qwen36-27b'],
    ['local', 'demo'],
  ])(
    'renders %s into objects that the API server takes, %s among them',
    async (environment, service) => {
      const file = ['--file', 'helmfile.d/llmservice.yaml.gotmpl', '--environment', environment];
      const program = ['--quiet', '--helm-binary', helm, ...file];
      const manifests = await render(helmfile, [...program, 'template', '--kube-version', '1.34.3']);
      const { code, stdout, stderr } = await dryRun(manifests);
      expect(stderr).not.toMatch(/error|unknown field|invalid/i);
      expect(code).toBe(0);
      expect(stdout).toContain(`llmservice.llmservice.dev/${service} `);
      expect(stdout).toContain('deployment.apps/llmservice-operator ');
      // Helm is given 600 s here.
      expect(manifests).toContain('- "540"');
    },
    120_000,
  );

  it('compares services with a cluster that has no CRD yet', async () => {
    const file = ['--file', 'helmfile.d/llmservice.yaml.gotmpl', '--environment', 'local'];
    const state = await render(helmfile, ['--quiet', '--helm-binary', helm, ...file, 'build']);
    const { releases } = parseAllDocuments(state).at(-1)?.toJS() as {
      releases: { chart: string; disableValidationOnInstall?: boolean }[];
    };
    const services = releases.filter(({ chart }) => chart.endsWith('llm-service'));
    expect(services.map((each) => each.disableValidationOnInstall)).toEqual([true, true]);
  });
});

it('have no webhook: the API server alone judges manifests, by the CRD', async () => {
  const service = template('llm-service', '--set', 'model.uri=s3://bucket/tiny/');
  const all = (await Promise.all([template('llmservice-operator'), service])).join('');
  expect(all).toContain('kind: CustomResourceDefinition');
  expect(all).not.toMatch(/WebhookConfiguration|strategy: Webhook/);
});

it.each(['true', 'no', '1'])('take %s for a name', async (name) => {
  const service = ['llm-service', '--set', 'model.uri=s3://bucket/tiny/'] as const;
  for (const [chart, ...args] of [['llmservice-operator'], service] as const) {
    for (const document of parseAllDocuments(await release(name, chart, ...args, '--namespace', name))) {
      const { kind, metadata } = document.toJS() as { kind: string; metadata: Record<string, unknown> };
      if (kind === 'CustomResourceDefinition') continue;
      const { 'app.kubernetes.io/instance': instance } = metadata['labels'] as Record<string, unknown>;
      expect([instance, typeof metadata['name']]).toEqual([name, 'string']);
      expect(metadata['namespace'] ?? name).toBe(name);
    }
  }
});

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
    parseAllDocuments(await release(name, 'llmservice-operator', ...args))
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
      const text = await template('llmservice-operator', ...args);
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
    await expect(template('llmservice-operator', '--set', value)).rejects.toThrow(
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

  describe('NetworkPolicies', () => {
    interface Policy {
      readonly kind: string;
      readonly metadata: { readonly name: string; readonly namespace: string };
      readonly spec: {
        readonly ingress?: readonly {
          readonly from: readonly object[];
          readonly ports: readonly { readonly port: number }[];
        }[];
      };
    }
    const peers = { activatorFrom: [{ podSelector: {} }], metricsFrom: [{ namespaceSelector: {} }] };
    const policies = async (values: object) => {
      const set = ['--set-json', `networkPolicies=${JSON.stringify(values)}`];
      const documents = parseAllDocuments(await template('llmservice-operator', ...set));
      const found = documents.map((document) => document.toJS() as Policy | null);
      return found.filter((each): each is Policy => each?.kind === 'NetworkPolicy');
    };
    const ports = ({ spec }: Policy) => (spec.ingress ?? []).map((rule) => [rule.from, rule.ports[0]?.port]);

    it('are there where they are asked for', async () => {
      expect(await policies({})).toEqual([]);
      expect(await policies(peers)).toEqual([]);
    });

    it('let in nobody but who is listed, each to what is for it', async () => {
      const [operator, activator] = await policies({ enabled: true, ...peers });
      expect(operator && ports(operator)).toEqual([[peers.metricsFrom, 8081]]);
      expect(activator && ports(activator)).toEqual([
        [peers.activatorFrom, 8082],
        [peers.metricsFrom, 8081],
      ]);
      // An empty rule would let in everybody.
      expect((await policies({ enabled: true })).map(ports)).toEqual([[], []]);
    });

    it('let the operator and the activator reach the services of a namespace', async () => {
      const values = { enabled: true, servicesFrom: { experimental: peers.activatorFrom, default: [] } };
      const [closed, experimental] = (await policies(values)).slice(2);
      expect([closed, experimental].map((each) => each?.metadata.namespace)).toEqual([
        'default',
        'experimental',
      ]);
      expect(experimental && ports(experimental)[0]?.[0]).toHaveLength(2);
      expect(closed && ports(closed)[0]?.[0]).toHaveLength(1);
      const everything = (await policies(values)).map((each) => JSON.stringify(each)).join('\n');
      expect(await dryRun(everything)).toMatchObject({ code: 0 });
    });
  });

  it.each(['concurrency=64', 'allowHostPaths={/a/..b,/c.d}', 'publicAddress=https://lb.example.org:443'])(
    'takes %s',
    async (value) => {
      expect(await template('llmservice-operator', '--set', value)).toContain('kind: Deployment');
    },
  );
});

describe('the operator under the chart’s RBAC', () => {
  afterEach(() =>
    kubectl.output(['delete', 'clusterrolebinding,clusterrole', 'llmservice-operator', '--ignore-not-found']),
  );
  const account = 'system:serviceaccount:llmservice-system:llmservice-operator';
  const may = async (verb: string, resource: string, namespace: string) => {
    const [plural = '', subresource = ''] = resource.split('/');
    const who = ['--namespace', namespace, '--as', account];
    const args = ['auth', 'can-i', verb, plural, `--subresource=${subresource}`, ...who];
    return (await kubectl.run(args)).stdout.trim().split('\n').at(-1);
  };

  it('may do its work in every namespace and nothing beside it', async () => {
    const manifests = await template('llmservice-operator', '--namespace', 'llmservice-system');
    await kubectl.output(['apply', '-f', '-'], manifests);
    expect(await may('patch', 'deployments.apps', 'experimental')).toBe('yes');
    expect(await may('patch', 'llmservices.llmservice.dev/status', 'experimental')).toBe('yes');
    expect(await may('get', 'secrets', 'experimental')).toBe('yes');
    expect(await may('delete', 'controllerrevisions.apps', 'experimental')).toBe('yes');
    expect(await may('update', 'leases.coordination.k8s.io', 'llmservice-system')).toBe('yes');
    expect(await may('list', 'nodes', 'experimental')).toBe('yes');

    expect(await may('watch', 'nodes', 'experimental')).toBe('no');
    expect(await may('list', 'secrets', 'experimental')).toBe('no');
    expect(await may('patch', 'llmservices.llmservice.dev', 'experimental')).toBe('no');
    expect(await may('delete', 'deployments.apps', 'experimental')).toBe('no');
    expect(await may('create', 'pods/exec', 'experimental')).toBe('no');
    expect(await may('update', 'leases.coordination.k8s.io', 'experimental')).toBe('no');
  }, 120_000);

  it('may see where its Gateway is entered, and no other', async () => {
    const gateway = ['--set', 'gateway.name=public,gateway.namespace=istio-system'];
    const inSystem = ['--namespace', 'llmservice-system', ...gateway];
    const places = async (...args: string[]) =>
      parseAllDocuments(await template('llmservice-operator', ...inSystem, ...args))
        .map((document) => (document.toJS() as { metadata: { name: string; namespace?: string } }).metadata)
        .filter(({ name }) => name.endsWith('-gateway'))
        .map(({ namespace }) => namespace);
    expect(await places()).toEqual(['istio-system', 'istio-system']);
    expect(await places('--set', 'publicAddress=http://lb.example.org')).toEqual([]);
    expect(await places('--set', 'watchNamespace=experimental')).toEqual([]);
  });

  it('may do its work in the one watched namespace only', async () => {
    const watched = ['--namespace', 'llmservice-system', '--set', 'watchNamespace=experimental'];
    await kubectl.output(['apply', '-f', '-'], await template('llmservice-operator', ...watched));
    expect(await may('patch', 'deployments.apps', 'experimental')).toBe('yes');
    expect(await may('patch', 'deployments.apps', 'default')).toBe('no');
    expect(await may('list', 'nodes', 'experimental')).toBe('no');
  }, 120_000);

  it('may do its work in each of several watched namespaces, by a text or a list', async () => {
    const roles = async (...args: string[]) =>
      parseAllDocuments(
        await template('llmservice-operator', '--namespace', 'llmservice-system', ...args),
      ).map((document) => document.toJS() as { kind: string; metadata: { name: string; namespace: string } });
    const byText = await roles('--set', String.raw`watchNamespace=team-a\,team-b`);
    expect(await roles('--set', 'watchNamespace={team-a,team-b}')).toEqual(byText);
    for (const name of ['llmservice-operator', 'llmservice-operator-activator']) {
      const namespaces = byText
        .filter(({ kind, metadata }) => kind === 'RoleBinding' && metadata.name === name)
        .map(({ metadata }) => metadata.namespace);
      expect(namespaces).toEqual(['team-a', 'team-b']);
    }
    expect(byText.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([]);
    expect(JSON.stringify(byText)).toContain('{"name":"WATCH_NAMESPACE","value":"team-a,team-b"}');
    await expect(roles('--set', 'watchNamespace=Team_A')).rejects.toThrow();
  });
});

describe('the activator under the chart’s RBAC', () => {
  const objects = async (...args: string[]) =>
    parseAllDocuments(await template('llmservice-operator', ...args)).map(
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

describe('the service chart', () => {
  const rendered = (...args: string[]) =>
    template('llm-service', '--set', 'model.uri=s3://bucket/tiny/', ...args);

  it('leaves replicas to kubectl scale unless they are set, zero included', async () => {
    expect(await rendered()).not.toContain('replicas:');
    expect(await rendered('--set', 'replicas=0')).toMatch(/^ {2}replicas: 0$/m);
  });

  it('waits by a hook that may read this one service, or not at all', async () => {
    expect(await rendered('--set', 'wait=serving')).toMatch(/- serving$/m);
    expect(await rendered()).toContain('resourceNames: ["llmservice-operator"]');
    expect(await rendered('--set', 'wait=none')).not.toContain('kind: Job');
  });

  it('waits by a Job that ends before Helm does, goes by itself, and runs where the values say', async () => {
    const places = { nodeSelector: { pool: 'x' }, tolerations: [{ operator: 'Exists' }] };
    const args = ['--set-json', `waitJob=${JSON.stringify(places)}`, '--show-only', 'templates/wait.yaml'];
    interface Job {
      readonly kind: string;
      readonly spec: {
        readonly ttlSecondsAfterFinished: number;
        readonly template: {
          readonly spec: { readonly containers: { args: string[]; resources: object }[] };
        };
      };
    }
    const objects = parseAllDocuments(await rendered(...args)).map((document) => document.toJS() as Job);
    const spec = objects.find(({ kind }) => kind === 'Job')?.spec;
    expect(spec).toMatchObject({ ttlSecondsAfterFinished: 86_400, template: { spec: places } });
    const [container] = spec?.template.spec.containers ?? [];
    expect(container?.resources).toHaveProperty('limits');
    // Helm waits for five minutes by default.
    expect(Number(container?.args.at(-1))).toBeLessThan(300);
  });

  it('takes the values of a release that its chart was older for', async () => {
    expect(await rendered('--set', 'waitJob=null')).toContain('kind: Job');
  });

  it('passes on every field that a service has', async () => {
    const crd = parse(await readFile(join(root, 'crds/llmservices.llmservice.dev.yaml'), 'utf8'));
    const fields = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties as Record<
      string,
      { type: string }
    >;
    const probes: Record<string, unknown> = {
      object: { a: 'b' },
      array: [{ name: 'a' }],
      string: 'a',
      integer: 1,
      boolean: true,
    };
    const others = Object.entries(fields).filter(([field]) => field !== 'model');
    const set = others.flatMap(([field, { type }]) => [
      '--set-json',
      `${field}=${JSON.stringify(probes[type])}`,
    ]);
    const [service] = parseAllDocuments(await rendered(...set, '--show-only', 'templates/llm-service.yaml'));
    const { spec } = service?.toJS() as { spec: object };
    expect(Object.keys(spec).sort()).toEqual(Object.keys(fields).sort());
  });

  it('refuses a value that it does not know', async () => {
    await expect(rendered('--set', 'wiat=serving')).rejects.toThrow(/wiat/);
  });
});
