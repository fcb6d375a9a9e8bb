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
const template = (chart: string, ...args: string[]) =>
  render(helm, ['template', 'llmservice-operator', `charts/${chart}`, '--kube-version', '1.34.3', ...args]);
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
    },
    120_000,
  );
});

it('have no webhook: the API server alone judges manifests, by the CRD', async () => {
  const service = template('llm-service', '--set', 'model.uri=s3://bucket/tiny/');
  const all = (await Promise.all([template('llmservice-operator'), service])).join('');
  expect(all).toContain('kind: CustomResourceDefinition');
  expect(all).not.toMatch(/WebhookConfiguration|strategy: Webhook/);
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
    expect(await rendered()).toContain('resourceNames: [llmservice-operator]');
    expect(await rendered('--set', 'wait=none')).not.toContain('kind: Job');
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
