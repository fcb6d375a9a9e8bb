// How a server process ends: by signals, with what runs on it, and by settings and checkpoints that it cannot serve.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFiles } from '../builders/files.js';
import { enginePids, isRunning } from '../process-tree.js';
import { eventually } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { S3Server, s3Environment } from './s3-server.js';
import { endless, lines, longContext } from './streams.js';

jest.setTimeout(120_000);

test('a server that is killed in mid-stream takes its engine with it', async () => {
  const replica = await ReplicaProcess.start({ uri: demoCheckpoint, engine: longContext });
  await replica.ready();
  const response = await replica.post('/v1/completions', endless);
  await response.body!.getReader().read();
  const [engine] = enginePids(replica.child.pid!);
  await replica.stop();
  await eventually('the engine to end', () => !isRunning(engine!));
});

describe('SIGTERM', () => {
  test('running generations finish within the drain time, and the process exits with 0', async () => {
    const replica = await ReplicaProcess.start({
      uri: demoCheckpoint,
      engine: longContext,
      drainTimeoutSeconds: 100,
    });
    await replica.ready();
    const response = await replica.post('/v1/completions', endless);
    replica.child.kill('SIGTERM');
    await eventually(
      'readiness to end',
      async () => (await fetch(`${replica.url}/healthz/ready`)).status === 503,
    );
    expect((await replica.post('/v1/completions', { prompt: 'x' })).status).toBe(503);
    expect((await lines(response)).at(-1)).toBe('[DONE]');
    expect(await replica.exited()).toBe(0);
    await replica.stop();
  });

  test('what is not done by then ends with an error event', async () => {
    const replica = await ReplicaProcess.start({
      uri: demoCheckpoint,
      engine: longContext,
      drainTimeoutSeconds: 0,
    });
    await replica.ready();
    const response = await replica.post('/v1/completions', endless);
    replica.child.kill('SIGTERM');
    expect(JSON.parse((await lines(response)).at(-1)!)).toMatchObject({ error: { code: 'draining' } });
    expect(await replica.exited()).toBe(0);
    await replica.stop();
  });
});

describe('from S3', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await S3Server.start();
    s3.put('models', 'demo', readFiles(demoCheckpoint));
  });
  afterAll(() => s3.stop());
  const serve = (
    prefix: string,
    env: NodeJS.ProcessEnv = s3Environment,
    engine = {},
  ): Promise<ReplicaProcess> =>
    ReplicaProcess.start({ uri: `s3://models/${prefix}/`, endpoint: s3.endpoint, env, engine });

  test('pulls and serves; health says so while S3 is away', async () => {
    await s3.pause();
    const replica = await serve('demo');
    await eventually(
      'the outage to be reported',
      async () => (await replica.health()).failure?.reason === 'S3Unavailable',
    );
    expect((await fetch(`${replica.url}/healthz/live`)).status).toBe(200);
    const refused = await replica.post('/v1/completions', { prompt: 'x' });
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    await s3.resume();
    await replica.ready();
    expect((await replica.health()).failure).toBeNull();
    await replica.stop();
  });

  test.each([
    ['wrong keys', 'demo', { ...s3Environment, AWS_SECRET_ACCESS_KEY: 'wrong' }, {}, 'S3AccessDenied'],
    ['nothing there', 'nowhere', s3Environment, {}, 'ModelNotFound'],
    [
      'a context that the checkpoint was not made for',
      'demo',
      s3Environment,
      { maxModelLen: 1_000_000 },
      'InvalidEngineConfig',
    ],
    [
      'an environment that contradicts the file',
      'demo',
      { ...s3Environment, MAX_NUM_SEQS: '7' },
      {},
      'InvalidEngineConfig',
    ],
  ])(
    '%s end the process with their reason as termination message',
    async (_, prefix, env, engine, reason) => {
      const replica = await serve(prefix, env, engine);
      expect(await replica.exited()).toBe(1);
      expect(replica.terminationMessage?.reason).toBe(reason);
      await replica.stop();
    },
  );

  test('a tokenizer that cannot be read is reported as such', async () => {
    s3.put('models', 'bad-tokenizer', { ...readFiles(demoCheckpoint), 'tokenizer.json': Buffer.from('{') });
    const replica = await serve('bad-tokenizer');
    expect(await replica.exited()).toBe(1);
    expect(replica.terminationMessage?.reason).toBe('TokenizerInvalid');
    await replica.stop();
  });
});
