// `llmservice plan` as people and CI run it, with checkpoints in a real S3 server and beside a real API server with the
// operator at work.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { World } from './operator-world.js';
import { manifests, plan } from './plan-command.js';
import { s3Environment, s3Keys } from './s3-server.js';

jest.setTimeout(120_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmservice-plan-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('with checkpoints in a bucket and a cluster', () => {
  let world: World;
  let kubeconfig: string;
  beforeAll(async () => {
    world = await World.start();
    world.s3.put('models', 'good', llamaCheckpoint());
    world.s3.put('models', 'bnb', llamaCheckpoint({ quantization_config: { quant_method: 'bitsandbytes' } }));
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
    const bnb = await plan(['-f', '-'], at('models/bnb/'), s3Environment);
    expect([bnb.code, bnb.text]).toEqual([1, expect.stringContaining('"bitsandbytes"')]);
    // Its two weight files have 180 KB of zeros.
    expect(bnb.text).toMatch(
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
