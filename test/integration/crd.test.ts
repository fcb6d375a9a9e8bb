// The resource as a real API server sees it: defaults, refusals that name the field, subresources and columns.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { specDefaults } from '@llmservice/crds';
import { ApiServer } from './api-server.js';
import { Kubectl } from './kubectl.js';
import { gpu, refusedSpecs } from './refused-specs.js';

const startTimeoutMs = 600_000;
let server: ApiServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await ApiServer.start();
  kubectl = new Kubectl(server.kubeConfig());
  await kubectl.installCrd();
}, startTimeoutMs);
afterAll(() => server.stop());

const service = (spec: object, name = 'tiny') =>
  JSON.stringify({
    apiVersion: 'llmservice.dev/v1alpha1',
    kind: 'LlmService',
    metadata: { name },
    spec: { model: { uri: 's3://bucket/tiny/' }, ...spec },
  });
const dryRun = (manifest: string) =>
  kubectl.run(['create', '--dry-run=server', '--validate=strict', '-o', 'json', '-f', '-'], manifest);

describe('defaults', () => {
  it('are those that the contract package lists', async () => {
    const { stdout, stderr } = await dryRun(service({}));
    expect(stderr).toBe('');
    expect(JSON.parse(stdout).spec).toEqual({
      ...specDefaults,
      model: { uri: 's3://bucket/tiny/', ...specDefaults.model },
    });
  });
});

describe('the API server refuses', () => {
  it.each(refusedSpecs)('%s', async (_, spec, message) => {
    const { code, stderr } = await dryRun(service(spec));
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });

  it.each(['1tiny', 'a.b', 'x'.repeat(53)])('the object name %s', async (name) => {
    const { code, stderr } = await dryRun(service({}, name));
    expect(stderr).toContain('metadata.name');
    expect(code).toBe(1);
  });
});

describe('the API server accepts', () => {
  it.each<[string, object]>([
    [
      'devices named in limits as well',
      { accelerator: gpu(2), resources: { limits: { 'amd.com/gpu': '2', cpu: 4 } } },
    ],
    ['a MIG partition', { accelerator: { resourceName: 'nvidia.com/mig-3g.40gb' } }],
    ['a toleration of everything', { tolerations: [{ operator: 'Exists' }] }],
    [
      'keys',
      { replicas: 2, auth: { keysSecretRef: { name: 'keys' }, maxReplicas: 2, protectMetrics: true } },
    ],
    ['replicas beyond maxReplicas where there are no keys', { replicas: 3 }],
    ['an accelerator by its profile', { accelerator: { profile: 'h100-3g.40gb' } }],
    ['a certificate', { tls: { secretRef: { name: 'tls' } } }],
    [
      'a certificate that gateway and activator verify',
      {
        tls: { secretRef: { name: 'tls' }, caConfigMapRef: { name: 'ca' } },
        routing: { host: 'demo.example.org' },
        scaling: { idleAfterSeconds: 60 },
      },
    ],
    ['an accounting log', { accounting: { persistentVolumeClaimRef: { name: 'accounting' } } }],
    [
      'a request log and administration',
      {
        requestLog: { uri: 's3://b/log/', text: true },
        administration: { keysSecretRef: { name: 'admins' } },
      },
    ],
    [
      'settings of the server',
      {
        server: { maxBodyBytes: 1_048_576, maxWaiting: 0, mostUrgentPriority: -8, logLevel: 'debug' },
        scaling: { maxReplicas: 3 },
      },
    ],
    ['16 GPUs that a library adds up over', { accelerator: gpu(16), engine: { collectives: 'library' } }],
    ['16 GPUs of vLLM', { accelerator: gpu(16), engine: { runtime: 'vllm' } }],
    ['16 ranks on the CPU', { accelerator: { devices: 16 } }],
    ['a name with an organisation', { model: { uri: 's3://b', name: 'Qwen/Qwen3.6-27B' } }],
  ])('%s', async (_, spec) => {
    const { code, stderr } = await dryRun(service(spec));
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });
});

describe('an LlmService', () => {
  it('shows its columns, scales, and keeps status apart from spec', async () => {
    await kubectl.output(['create', '-f', '-'], service({}));
    const status = {
      url: 'http://tiny.example.org',
      model: 'tiny',
      replicas: 1,
      selector: 'llmservice.dev/service=tiny',
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'Loading',
          message: 'Weights are loading.',
          observedGeneration: 1,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    await kubectl.output([
      'patch',
      'llm',
      'tiny',
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    ]);

    const [head = '', row = ''] = (await kubectl.output(['get', 'llm'])).split('\n');
    expect(head.trim().split(/\s+/)).toEqual(['NAME', 'URL', 'READY', 'REASON', 'REPLICAS', 'MODEL', 'AGE']);
    expect(row.trim().split(/\s+/).slice(0, 6)).toEqual([
      'tiny',
      status.url,
      'False',
      'Loading',
      '1',
      'tiny',
    ]);

    await kubectl.output(['scale', 'llm/tiny', '--replicas=3']);
    const scaled = JSON.parse(await kubectl.output(['get', 'llm', 'tiny', '-o', 'json']));
    expect(scaled.spec.replicas).toBe(3);
    expect(scaled.status).toEqual(status);
    expect(scaled.metadata.generation).toBe(2);
  });

  it('explains every field of its spec', async () => {
    const text = await kubectl.output(['explain', 'llmservice.spec.engine.maxNumBatchedTokens']);
    expect(text).toContain('at least maxNumSeqs + 64');
  });
});
