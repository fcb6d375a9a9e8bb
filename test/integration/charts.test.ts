// What the charts render, as a real API server takes it: every object of every environment, strictly checked, and
// what the operator may do under the chart's own RBAC.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { toolFolders } from '../processes.js';
import { ApiServer } from './api-server.js';
import { Helm } from './helm.js';
import { Kubectl } from './kubectl.js';
import { installMonitoringCrds } from './published-crds.js';

const startTimeoutMs = 600_000;
const helm = new Helm();
let server: ApiServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await ApiServer.start();
  kubectl = new Kubectl(server.kubeConfig());
  await kubectl.installCrd();
  for (const namespace of ['llmservice-system', 'experimental', 'istio-system']) {
    await kubectl.output(['create', 'namespace', namespace]);
  }
}, startTimeoutMs);
afterAll(async () => {
  await server.stop();
  helm.remove();
});

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
      const program = ['--quiet', '--helm-binary', helm.program, ...file];
      const manifests = await helm.render(helmfile, [...program, 'template', '--kube-version', '1.34.3']);
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
    const state = await helm.render(helmfile, ['--quiet', '--helm-binary', helm.program, ...file, 'build']);
    const { releases } = parseAllDocuments(state).at(-1)?.toJS() as {
      releases: { chart: string; disableValidationOnInstall?: boolean }[];
    };
    const services = releases.filter(({ chart }) => chart.endsWith('llm-service'));
    expect(services.map((each) => each.disableValidationOnInstall)).toEqual([true, true]);
  });
});

it('have no webhook: the API server alone judges manifests, by the CRD', async () => {
  const service = helm.template('llm-service', '--set', 'model.uri=s3://bucket/tiny/');
  const all = (await Promise.all([helm.template('llmservice-operator'), service])).join('');
  expect(all).toContain('kind: CustomResourceDefinition');
  expect(all).not.toMatch(/WebhookConfiguration|strategy: Webhook/);
});

it.each(['true', 'no', '1'])('take %s for a name', async (name) => {
  const service = ['llm-service', '--set', 'model.uri=s3://bucket/tiny/'] as const;
  for (const [chart, ...args] of [['llmservice-operator'], service] as const) {
    for (const document of parseAllDocuments(await helm.release(name, chart, ...args, '--namespace', name))) {
      const { kind, metadata } = document.toJS() as { kind: string; metadata: Record<string, unknown> };
      if (kind === 'CustomResourceDefinition') continue;
      const { 'app.kubernetes.io/instance': instance } = metadata['labels'] as Record<string, unknown>;
      expect([instance, typeof metadata['name']]).toEqual([name, 'string']);
      expect(metadata['namespace'] ?? name).toBe(name);
    }
  }
});

describe('the operator’s chart', () => {
  describe('objects for Prometheus and Grafana', () => {
    const count = async (...args: string[]) => {
      const documents = parseAllDocuments(await helm.template('llmservice-operator', ...args));
      const kinds = documents.map((document) => (document.toJS() as { kind?: string } | null)?.kind);
      return ['PodMonitor', 'PrometheusRule', 'ConfigMap'].map(
        (kind) => kinds.filter((each) => each === kind).length,
      );
    };
    const serving = (...kinds: string[]) =>
      kinds.flatMap((kind) => ['--api-versions', `monitoring.coreos.com/v1/${kind}`]);
    const served = serving('PodMonitor', 'PrometheusRule');

    it('are there where the cluster serves their API, or where they are asked for', async () => {
      expect(await count()).toEqual([0, 0, 0]);
      expect(await count(...served)).toEqual([5, 1, 5]);
      expect(await count(...serving('PodMonitor'))).toEqual([5, 0, 5]);
      expect(await count(...serving('PrometheusRule'))).toEqual([0, 1, 5]);
      expect(await count('--set', 'monitoring.enabled=true')).toEqual([5, 1, 5]);
      // As upgraded from an older chart with --reuse-values: the same, and no right of Kubernetes's own roles is widened.
      const older = ['--set', 'monitoring=null,rbac=null,prices=null'];
      const unwidened = ['--set', 'rbac.aggregate=false'];
      const rendered = [unwidened, older].map((more) =>
        helm.template('llmservice-operator', ...served, ...more),
      );
      expect(await rendered[1]).toBe(await rendered[0]);
      expect(await rendered[1]).not.toContain('rbac.authorization.k8s.io/aggregate-to-');
      expect(await count(...served, '--set', 'monitoring.enabled=false')).toEqual([0, 0, 0]);
      const some =
        'monitoring.rules.enabled=false,monitoring.dashboards.enabled=false,activator.enabled=false';
      expect(await count(...served, '--set', some)).toEqual([4, 0, 0]);
    });

    it('name values that the chart has', async () => {
      const values = parse(readFileSync('charts/llmservice-operator/values.yaml', 'utf8')) as object;
      const rendered = await helm.template('llmservice-operator', '--set', 'monitoring.enabled=true');
      const named = [...rendered.matchAll(/the chart’s (\w[\w.]*\w)/g)].map(([, path = '']) => path);
      expect(named).toContain('prices');
      for (const path of named) expect(values).toHaveProperty(path);
    });

    it('have alerts of what is absent only where it may be scraped', async () => {
      const absent = async (set: string, ...args: string[]) => {
        const all = ['--set', set, ...args];
        const rendered = await helm.template('llmservice-operator', ...all);
        return [...rendered.matchAll(/- alert: (LlmOperatorNoLeader|LlmActivatorDown|LlmOperatorBlind)$/gm)]
          .map(([, name]) => name)
          .toSorted();
      };
      const enabled = 'monitoring.enabled=true';
      const all = ['LlmActivatorDown', 'LlmOperatorBlind', 'LlmOperatorNoLeader'];
      const closed = `${enabled},networkPolicies.enabled=true`;
      const peers = ['--set-json', 'networkPolicies.metricsFrom=[{"podSelector":{}}]'];
      expect(await absent(enabled)).toEqual(all);
      expect(await absent(closed, ...peers)).toEqual(all);
      expect(await absent(`${enabled},activator.enabled=false`)).toEqual(all.slice(1));
      expect(await absent(closed)).toEqual(['LlmOperatorBlind']);
      expect(await absent(`${enabled},monitoring.podMonitors.enabled=false`)).toEqual(['LlmOperatorBlind']);
      expect(await absent('image.tag=a', ...serving('PrometheusRule'))).toEqual(['LlmOperatorBlind']);
    });

    it('are taken by the API server as Prometheus’s operator publishes their kinds', async () => {
      await installMonitoringCrds(kubectl);
      const values = [
        'monitoring.enabled=true',
        'monitoring.labels.release=prometheus',
        'watchNamespace={default}',
      ];
      const set = values.flatMap((value) => ['--set', value]);
      const rendered = await helm.template('llmservice-operator', ...set, '--namespace', 'llmservice-system');
      const { code, stderr, stdout } = await dryRun(rendered);
      expect([code, stderr]).toEqual([0, expect.not.stringMatching(/error|unknown field|invalid/i)]);
      expect(stdout).toContain('podmonitor.monitoring.coreos.com/llmservice-operator-services ');
      expect(rendered).not.toMatch(/__[A-Z_]+__/);
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
    const policies = async (values: object, ...more: string[]) => {
      const set = ['--set-json', `networkPolicies=${JSON.stringify(values)}`, ...more];
      const documents = parseAllDocuments(await helm.template('llmservice-operator', ...set));
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

    it('let in the API server to convert, by its addresses where they are listed', async () => {
      const from = [{ ipBlock: { cidr: '192.0.2.1/32' } }];
      const anybody = await policies({ enabled: true }, '--set=conversion.enabled=true');
      const listed = await policies({ enabled: true, conversionFrom: from }, '--set=conversion.enabled=true');
      const rules = [anybody, listed].flatMap((each) => each.slice(0, 1).flatMap(ports));
      expect(rules).toEqual([undefined, from].map((each) => [each, 9443]));
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
    const manifests = await helm.template('llmservice-operator', '--namespace', 'llmservice-system');
    await kubectl.output(['apply', '-f', '-'], manifests);
    expect(await may('patch', 'deployments.apps', 'experimental')).toBe('yes');
    expect(await may('patch', 'llmservices.llmservice.dev/status', 'experimental')).toBe('yes');
    expect(await may('get', 'secrets', 'experimental')).toBe('yes');
    expect(await may('delete', 'deployments.apps', 'experimental')).toBe('yes');
    expect(await may('delete', 'controllerrevisions.apps', 'experimental')).toBe('yes');
    expect(await may('update', 'leases.coordination.k8s.io', 'llmservice-system')).toBe('yes');
    expect(await may('list', 'nodes', 'experimental')).toBe('yes');

    expect(await may('watch', 'nodes', 'experimental')).toBe('no');
    expect(await may('list', 'secrets', 'experimental')).toBe('no');
    expect(await may('patch', 'llmservices.llmservice.dev', 'experimental')).toBe('no');
    expect(await may('delete', 'pods', 'experimental')).toBe('no');
    expect(await may('create', 'pods/exec', 'experimental')).toBe('no');
    expect(await may('update', 'leases.coordination.k8s.io', 'experimental')).toBe('no');
  }, 120_000);

  it('may see where its Gateway is entered, and no other', async () => {
    const gateway = ['--set', 'gateway.name=public,gateway.namespace=istio-system'];
    const inSystem = ['--namespace', 'llmservice-system', ...gateway];
    const places = async (...args: string[]) =>
      parseAllDocuments(await helm.template('llmservice-operator', ...inSystem, ...args))
        .map((document) => (document.toJS() as { metadata: { name: string; namespace?: string } }).metadata)
        .filter(({ name }) => name.endsWith('-gateway'))
        .map(({ namespace }) => namespace);
    expect(await places()).toEqual(['istio-system', 'istio-system']);
    expect(await places('--set', 'publicAddress=http://lb.example.org')).toEqual([]);
    expect(await places('--set', 'watchNamespace=experimental')).toEqual([]);
  });

  it('may do its work in the one watched namespace only', async () => {
    const watched = ['--namespace', 'llmservice-system', '--set', 'watchNamespace=experimental'];
    await kubectl.output(['apply', '-f', '-'], await helm.template('llmservice-operator', ...watched));
    expect(await may('patch', 'deployments.apps', 'experimental')).toBe('yes');
    expect(await may('patch', 'deployments.apps', 'default')).toBe('no');
    expect(await may('list', 'nodes', 'experimental')).toBe('no');
  }, 120_000);

  it('may do its work in each of several watched namespaces, by a text or a list', async () => {
    const roles = async (...args: string[]) =>
      parseAllDocuments(
        await helm.template('llmservice-operator', '--namespace', 'llmservice-system', ...args),
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
