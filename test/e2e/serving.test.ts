// The main job: a manifest becomes a service that people see in kubectl and clients reach through the gateway by Host.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { demoModel, upload } from './bucket.js';
import { eventually } from '../processes.js';
import { apply, kubectl, nodeAddress, repository } from './cluster.js';
import { call, chatBody, chatPath, stream } from './gateway.js';
import { fromPod, makeNamespace, namespace, podOf, remove, serviceOf, waitReady } from './service.js';

jest.setTimeout(240_000);
const run = promisify(execFile);
const host = 'serving.e2e.example';

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

beforeAll(async () => {
  await makeNamespace();
  await apply(serviceOf('serving', { uri: await upload('demo', demoModel()), host }));
  await waitReady('serving');
  await eventually('the route', async () => (await call(host, '/v1/models')).status === 200, 60_000);
});
afterAll(() => remove('serving'));

describe('a service seen with kubectl', () => {
  test('reports its URL, readiness, reason, replicas and model in one line', async () => {
    const [head = '', line = ''] = (await kubectl(['get', 'llm', 'serving', '-n', namespace])).split('\n');
    expect(head.split(/\s{2,}/)).toEqual(
      expect.arrayContaining(['URL', 'READY', 'REASON', 'REPLICAS', 'MODEL']),
    );
    expect(line).toContain(host);
    expect(line).toMatch(/\sTrue\s/);
    expect(line).toMatch(/\sServing\s+1\s+demo\s/);
  });

  test('reports every condition in describe', async () => {
    const text = await kubectl(['describe', 'llm', 'serving', '-n', namespace]);
    for (const type of ['ModelResolved', 'Fits', 'Scheduled', 'Loaded', 'Serving', 'Routed', 'Ready'])
      expect(text).toMatch(new RegExp(`Type:\\s+${type}`));
  });
});

describe('a service seen through the gateway', () => {
  test('streams an answer chunk by chunk', async () => {
    const ask = async (): Promise<string[]> => {
      const texts: string[] = [];
      let last = '';
      for await (const { data } of stream(host, chatPath, chatBody('What is the capital of France?'))) {
        last = data;
        if (data !== '[DONE]') texts.push((JSON.parse(data) as Chunk).choices[0]?.delta.content ?? '');
      }
      expect(last).toBe('[DONE]');
      expect(texts.join('')).toContain('Paris');
      return texts.filter((text) => text !== '');
    };
    // A busy machine sends what has come meanwhile as one; what does not stream never comes in pieces.
    await eventually('an answer in pieces', async () => (await ask()).length > 2);
  });

  test('answers :predict with the text and the counts', async () => {
    const body = {
      messages: [{ role: 'user', content: 'What is the capital of France?' }],
      max_tokens: 48,
      temperature: 0,
    };
    const answer = await call(host, '/v1/models/demo:predict', body);
    expect(answer.status).toBe(200);
    const parsed = JSON.parse(answer.body) as Record<string, unknown>;
    expect(parsed).toMatchObject({ model_name: 'demo', response: expect.stringContaining('Paris') });
    expect(parsed['completion_tokens']).toBeGreaterThan(0);
  });

  test('is found by its Host alone', async () => {
    expect((await call('other.e2e.example', '/v1/models')).status).toBe(404);
  });

  test.each([
    ['Node', join(repository, 'node_modules/.bin/tsx'), 'openai-smoke.ts'],
    ['Python', join(repository, '.local/python-clients/bin/python'), 'openai_smoke.py'],
  ])('satisfies the OpenAI %s SDK', async (_name, program, script) => {
    if (script.endsWith('.py')) await run(join(repository, 'test/e2e/make-python-clients.sh'));
    const { stdout } = await run(program, [
      join(repository, 'test/e2e', script),
      `http://${nodeAddress}/openai/v1`,
      host,
    ]);
    const result = JSON.parse(stdout) as Record<string, unknown>;
    expect(result).toEqual({
      chat: expect.stringContaining('Paris'),
      streamed: expect.stringContaining('Paris'),
      response: expect.stringContaining('Paris'),
      streamedResponse: ['response.created', 'response.completed', expect.stringContaining('Paris')],
      helper: expect.stringContaining('Paris'),
      raw: [200, true],
      embeddings: [0, 1],
      completion: expect.any(String),
      models: ['demo'],
      wrongModel: 404,
      wrongParameter: 400,
    });
  });

  test('satisfies the Anthropic Python SDK', async () => {
    await run(join(repository, 'test/e2e/make-python-clients.sh'));
    const { stdout } = await run(join(repository, '.local/python-clients/bin/python'), [
      join(repository, 'test/e2e/anthropic_smoke.py'),
      `http://${nodeAddress}`,
      host,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      message: ['end_turn', expect.stringContaining('Paris')],
      streamed: expect.stringContaining('Paris'),
      helper: expect.stringContaining('Paris'),
      tokens: expect.any(Number),
      wrongModel: 'NotFoundError',
      wrongParameter: 'BadRequestError',
    });
  });
});

test('200 clients that disconnect in mid-stream leave no running sequence and no block in use', async () => {
  const leave = async (): Promise<void> => {
    // The first event shows that the generation runs; then the connection is cut.
    for await (const event of stream(
      host,
      chatPath,
      chatBody('Tell me about the project.', { max_tokens: 400, ignore_eos: true }),
    )) {
      expect(event.data).not.toBe('[DONE]');
      break;
    }
  };
  for (let round = 0; round < 4; round += 1) await Promise.all(Array.from({ length: 50 }, leave));
  const pod = await podOf('serving');
  const gauge = (text: string, name: string): number =>
    Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1]);
  const metrics = await eventually(
    'all sequences to end',
    async () => {
      const text = await fromPod(pod, '/metrics');
      return gauge(text, 'vllm:num_requests_running') === 0 && gauge(text, 'vllm:num_requests_waiting') === 0
        ? text
        : null;
    },
    60_000,
  );
  expect(gauge(metrics, 'vllm:kv_cache_usage_perc')).toBe(0);
});
