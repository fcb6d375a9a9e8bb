// `llmservice plan` as people and CI run it: manifests in, report and exit status out; from a folder, from a real S3
// server, and beside a real API server with the operator at work.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { run, toolFolders } from '../processes.js';
import { World } from './operator-world.js';
import { s3Environment, s3Keys } from './s3-server.js';

jest.setTimeout(120_000);

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const program = file('cli/bin/llmservice.js');
const demo = file('deploy/demo-model/checkpoint');

interface Outcome {
  readonly code: number | null;
  readonly text: string;
  readonly stderr: string;
  /** Of `-o json`. */
  readonly report: () => Report;
}

interface Report {
  readonly exitCode: number;
  readonly problems: string[];
  readonly passedOver: { kind: string }[];
  readonly services: {
    service: string;
    verdict: string;
    message: string;
    memoryPlan: { maxModelLen: number } | null;
    objects: { kind: string; metadata: { name: string } }[];
    disruption: { kind: string } | null;
    cost: { perHour: number; estimates: { perMillionTokens: number }[] | null } | null;
    changes: { kind: string; change: string; differences: { path: string }[] }[] | null;
  }[];
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmservice-plan-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function plan(args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const offline = { NODE_OPTIONS: '', AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
  const result = await run(process.execPath, [program, 'plan', ...args], input, { ...offline, ...env });
  const { code, stdout, stderr } = result;
  return { code, text: stdout, stderr, report: () => JSON.parse(stdout) as Report };
}

const manifests = (...objects: object[]): string =>
  objects.map((object) => `---\n${JSON.stringify(object)}\n`).join('');

const uri = 's3://models/demo/';
const l4 = { accelerator: { profile: 'l4' }, engine: { maxNumSeqs: 16 } };

describe('with the demo checkpoint in a folder', () => {
  const here = ['--checkpoint', `file://${demo}`, '-f', '-'];

  test('a manifest that fits: its table, what a change does and what it costs', async () => {
    const input = manifests(llmService('demo', { model: { uri }, ...l4 }));
    const { code, text } = await plan([...here, '--price-per-device-hour', '0.8'], input);
    expect(code).toBe(0);
    expect(text).toContain('default/demo: fits (standard input, document 1)');
    expect(text).toContain('Up to 4096 tokens a sequence; 16 such sequences at once.');
    expect(text).toMatch(/ {4}weights +6\.3 MiB/);
    expect(text).toMatch(/ {4}KV cache +64\.0 MiB {2}1024 blocks of 64 tokens, 1024 bytes per token/);
    expect(text).toContain('a change of the pods: surges where a node has room for one more, else drains');
    expect(text).toContain('0.80 an hour for 1 device');
    expect(text).toContain('estimate, at best');
  });

  test('the objects are those that would be applied', async () => {
    const input = manifests(llmService('demo', { model: { uri }, ...l4 }));
    const { objects } = (await plan([...here, '-o', 'json'], input)).report().services[0]!;
    expect(objects.map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ]);
    const { text } = await plan([...here, '--objects', '--runtime-image', 'example.org/runtime:9'], input);
    expect(text).toContain('image: example.org/runtime:9');
  });

  test('what helm prints is read: other objects are passed over', async () => {
    const [helm = ''] = toolFolders('helm');
    const set = ['model.uri=s3://models/demo/', 'accelerator.profile=l4', 'engine.maxNumSeqs=16'];
    const args = ['template', 'demo', file('charts/llm-service'), '--set', set.join(',')];
    const { stdout: rendered, stderr } = await run(join(helm, 'helm'), args, '', { HELM_CACHE_HOME: folder });
    expect(stderr).toBe('');
    const { code, text } = await plan(here, rendered);
    expect(text).toContain('default/demo: fits');
    expect(text).toMatch(/Passed over: .*Job/);
    expect(code).toBe(0);
  });

  const tiny = { accelerator: { resourceName: 'nvidia.com/gpu', memoryPerDevice: '1200Mi' } };
  const service = (spec: object) => manifests(llmService('demo', { model: { uri }, ...spec }));
  test.each<[string, number, string, string]>([
    ['too small a device', 1, service(tiny), 'Any of these would do: '],
    [
      'a context that does not fit',
      1,
      service({
        accelerator: { resourceName: 'nvidia.com/gpu', memoryPerDevice: '1697Mi' },
        engine: { maxModelLen: 4096, maxNumSeqs: 1, memoryUtilizationPercent: 87 },
      }),
      'the longest that does is',
    ],
    [
      'ranks that do not divide it',
      1,
      service({ accelerator: { profile: 'l4', devices: 3 } }),
      'values that work: 1, 2',
    ],
    [
      'a context beyond the checkpoint',
      1,
      service({ ...l4, engine: { maxModelLen: 999_999 } }),
      'engine.maxModelLen 999999',
    ],
    ['memory that nobody stated', 4, service({}), 'Set spec.accelerator.memoryPerDevice'],
    ['broken YAML', 2, 'a: [', 'standard input, document 1'],
    ['nothing', 2, '', 'there is no LlmService'],
    [
      'a Service alone',
      2,
      manifests({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } }),
      'no LlmService',
    ],
    ['an unknown field', 2, service({ engine: { speed: 'high' } }), 'spec.engine.speed is not a known field'],
    [
      'a field of another type',
      2,
      service({ engine: { maxNumSeqs: 'many' } }),
      'spec.engine.maxNumSeqs must be',
    ],
    ['a number out of bounds', 2, service({ engine: { blockSize: 7 } }), 'spec.engine.blockSize'],
    ['no uri', 2, manifests(llmService('demo', { model: {} as never })), 'spec.model.uri is required'],
    [
      'another scheme',
      2,
      manifests(llmService('demo', { model: { uri: 'hf://a/b' } })),
      'spec.model.uri must be',
    ],
    ['an unknown profile', 2, service({ accelerator: { profile: 'abacus' } }), 'spec.accelerator.profile'],
    [
      'ranks that are not the devices',
      2,
      service({ accelerator: { profile: 'l4', devices: 2 }, parallelism: { tensor: 1 } }),
      'spec.parallelism.tensor must equal',
    ],
    [
      'a profile and the resource of another',
      2,
      service({ accelerator: { profile: 'l4', resourceName: 'amd.com/gpu' } }),
      'spec.accelerator.resourceName',
    ],
    [
      'a variable against a field',
      2,
      service({ ...l4, env: [{ name: 'MAX_NUM_SEQS', value: '17' }] }),
      'spec.env',
    ],
    ['another version', 2, service(l4).replace('v1alpha1', 'v9'), 'apiVersion'],
    ['no name', 2, service(l4).replace('"name":"demo",', ''), 'metadata.name is required'],
    ['one service twice', 2, service(l4) + service(l4), 'default/demo is in standard input, document 1'],
  ])('%s ends with %i', async (_name, code, input, part) => {
    const outcome = await plan(here, input);
    expect(outcome.text).toContain(part);
    expect(outcome.code).toBe(code);
  });

  test.each([
    ['no -f', [], '-f is required'],
    ['an unknown flag', ['-f', '-', '--fast'], '--fast'],
    ['a cluster without a kubeconfig', ['-f', '-', '--diff'], 'kubeconfig'],
  ])('%s is refused on the standard error', async (_name, args, part) => {
    const outcome = await plan(args, service(l4), { KUBECONFIG: join(folder, 'none'), HOME: folder });
    expect(outcome.stderr).toContain(part);
    expect(outcome.code).toBe(args.includes('--diff') ? 3 : 2);
  });

  test('of several services the gravest decides, and each says its own', async () => {
    writeFileSync(join(folder, 'a.yaml'), service(l4));
    writeFileSync(join(folder, 'b.yaml'), manifests(llmService('small', { model: { uri }, ...tiny })));
    const { code, report } = await plan(['-f', folder, '--checkpoint', demo, '-o', 'json']);
    expect(report().services.map(({ service: name, verdict }) => [name, verdict])).toEqual([
      ['default/demo', 'fits'],
      ['default/small', 'refused'],
    ]);
    expect([code, report().exitCode]).toEqual([1, 1]);
  });

  test('a folder that is not there is reported by its path', async () => {
    const outcome = await plan(['-f', '-', '--checkpoint', '/no/such/folder'], service(l4));
    expect(outcome.text).toContain('/no/such/folder');
    expect(outcome.code).toBe(3);
  });
});

describe('with checkpoints in a bucket and a cluster', () => {
  let world: World;
  let kubeconfig: string;
  beforeAll(async () => {
    world = await World.start();
    world.s3.put('models', 'good', llamaCheckpoint());
    world.s3.put('models', 'awq', llamaCheckpoint({ quantization_config: { quant_method: 'awq' } }));
    kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, world.api.kubeConfig().exportConfig());
  }, 180_000);
  afterAll(() => world.stop());

  const limits = { resources: { limits: { memory: '1Gi' } } };
  const good = (change: object = {}) =>
    llmService('good', { model: world.model('models/good/'), ...limits, ...change });
  const secret = () => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's3', namespace: 'default' },
    stringData: { AWS_ACCESS_KEY_ID: s3Keys.accessKeyId, AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey },
  });

  test('keys are those of a Secret among the manifests, or of the environment', async () => {
    expect((await plan(['-f', '-'], manifests(secret(), good()))).code).toBe(0);
    expect((await plan(['-f', '-'], manifests(good()), s3Environment)).code).toBe(0);
    const without = await plan(['-f', '-'], manifests(good()));
    expect(without.text).toContain('the Secret s3 is not among the manifests');
    expect(without.code).toBe(3);
  });

  test('an absent folder could not be read, another format is refused', async () => {
    const at = (path: string) => manifests(llmService('x', { model: world.model(path), ...limits }));
    const absent = await plan(['-f', '-'], at('models/none/'), s3Environment);
    expect([absent.code, absent.text]).toEqual([3, expect.stringContaining('config.json')]);
    const awq = await plan(['-f', '-'], at('models/awq/'), s3Environment);
    expect([awq.code, awq.text]).toEqual([1, expect.stringContaining('"awq"')]);
    // Its two weight files have 180 KB of zeros.
    expect(awq.text).toMatch(
      /estimate +an engine that runs it would take about 0\.2 MiB, 1 of these devices \(rule of/,
    );
    expect(absent.text).not.toContain('estimate');
  });

  test('compared with the cluster: created, then nothing, then only what was changed', async () => {
    const compare = async (change: object = {}) => {
      const outcome = await plan(['-f', '-', '--diff', '-o', 'json'], manifests(good(change)), {
        KUBECONFIG: kubeconfig,
      });
      expect(outcome.code).toBe(0);
      return outcome.report().services[0]!;
    };
    const before = await compare();
    expect(before.disruption).toEqual({ kind: 'create' });
    expect(before.changes!.map(({ change }) => change)).toEqual(before.changes!.map(() => 'create'));

    await world.create(good());
    const operator = world.startOperator();
    await world.deployment('good');
    await world.condition('good', 'Fits', 'True');
    const same = await compare();
    expect(same.disruption).toEqual({ kind: 'nothing' });
    expect(same.changes!.filter(({ change }) => change !== 'none')).toEqual([]);

    expect((await compare({ replicas: 2 })).disruption).toEqual({ kind: 'scale', from: 1, to: 2 });

    const other = await compare({ engine: { maxNumSeqs: 7 } });
    expect(other.disruption).toEqual({ kind: 'surge' });
    const changed = other.changes!.find(({ kind }) => kind === 'LlmService')!;
    expect(changed.differences).toEqual([{ path: 'spec.engine.maxNumSeqs', live: 64, desired: 7 }]);
    expect(await world.get(resources.deployments, 'good')).toMatchObject({ spec: { replicas: 1 } });
    await operator.stop();
  });

  test('what only the API server checks is reported by its dry run', async () => {
    const model = { ...world.model('models/good/'), name: 'a', aliases: ['a'] };
    const input = manifests(llmService('rules', { model, ...limits }));
    const outcome = await plan(['-f', '-', '--diff'], input, { KUBECONFIG: kubeconfig });
    expect(outcome.text).toContain('model.aliases repeats model.name');
    expect(outcome.code).toBe(2);
    expect(await world.get(resources.llmServices, 'rules')).toBeNull();
  });

  test('a cluster that does not answer ends with 3', async () => {
    const closed = join(folder, 'closed');
    const config = world.api.kubeConfig().exportConfig();
    writeFileSync(closed, config.replace(/https:\/\/[^"]+/, 'https://127.0.0.1:1'));
    const outcome = await plan(['-f', '-', '--diff'], manifests(good()), { KUBECONFIG: closed });
    expect(outcome.stderr).toContain('of the cluster failed');
    expect(outcome.code).toBe(3);
  });
});
