// `llmservice plan` as people and CI run it, with a checkpoint in a folder: manifests in, report and exit status out.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { llmService } from '../builders/llm-service.js';
import { run, toolFolders } from '../processes.js';
import { manifests, plan } from './plan-command.js';

jest.setTimeout(120_000);

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const demo = file('deploy/demo-model/checkpoint');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmservice-plan-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

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

  test('of a canary: what it takes beside the others, and its objects', async () => {
    const canary = { replicas: 2, steps: [{ weight: 10, mirrorPercent: 0 }] };
    const routing = { host: 'demo.example.org' };
    const input = manifests(llmService('demo', { model: { uri }, ...l4, routing, canary }));
    const { text } = await plan(here, input);
    expect(text).toContain('canary       2 pods more while a change is tried: 2 devices, 44.99 GiB');
    expect(text).toContain('canary: pods stay, and those of the change are tried beside them');
    const { objects } = (await plan([...here, '-o', 'json'], input)).report().services[0]!;
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      expect.arrayContaining(['Deployment demo', 'Deployment demo-canary', 'Service demo-canary']),
    );
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
      manifests(llmService('demo', { model: { uri: 'ftp://a/b' } })),
      'spec.model.uri must be',
    ],
    ['an unknown profile', 2, service({ accelerator: { profile: 'abacus' } }), 'spec.accelerator.profile'],
    [
      'ranks that are not the devices',
      2,
      service({ accelerator: { profile: 'l4', devices: 2 }, parallelism: { tensor: 1 } }),
      'spec.parallelism.tensor times parallelism.pipeline must equal',
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
