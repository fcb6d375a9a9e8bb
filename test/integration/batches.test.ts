// Batches of whole replicas that share a bucket, as OpenAI's own Node client uses them: the answers are those of single
// requests, whichever replica gives them and whichever is lost meanwhile.

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import OpenAI, { NotFoundError, toFile } from 'openai';
import { eventually } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { s3Environment, S3Server } from './s3-server.js';

jest.setTimeout(240_000);

const clientOf = ({ url }: ReplicaProcess): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

const chat = (id: string, maxTokens: number): object => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: {
    model: 'demo',
    temperature: 0,
    max_tokens: maxTokens,
    ignore_eos: true,
    messages: [{ role: 'user', content: `Question ${id}: what is the capital of France?` }],
  },
});
const rows = (count: number, maxTokens: number): object[] =>
  Array.from({ length: count }, (_, id) => chat(String(id), maxTokens));

async function start(
  client: OpenAI,
  lines: readonly object[],
  endpoint: OpenAI.BatchCreateParams['endpoint'] = '/v1/chat/completions',
): Promise<string> {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const file = await client.files.create({
    purpose: 'batch',
    file: await toFile(Buffer.from(text), 'in.jsonl'),
  });
  const created = { input_file_id: file.id, endpoint, completion_window: '24h' } as const;
  return (await client.batches.create(created)).id;
}

const over = (client: OpenAI, id: string): Promise<OpenAI.Batch> =>
  eventually(
    'the batch to end',
    async () => {
      const batch = await client.batches.retrieve(id);
      return ['completed', 'failed', 'expired', 'cancelled'].includes(batch.status) ? batch : null;
    },
    180_000,
  );

interface Result {
  readonly custom_id: string;
  readonly response: { readonly body: OpenAI.ChatCompletion };
}
const linesOf = async (client: OpenAI, id: string | undefined): Promise<Result[]> =>
  (await (await client.files.content(id!)).text())
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Result);

describe('in memory', () => {
  let replica: ReplicaProcess;
  let client: OpenAI;
  beforeEach(async () => {
    const env = { LLMSERVICE_BATCHES_BYTES: String(2 ** 26) };
    replica = await ReplicaProcess.start({ uri: demoCheckpoint, env });
    await replica.ready();
    client = clientOf(replica);
  });
  afterEach(() => replica.stop());

  test('a batch has the answers of its requests', async () => {
    const asked = rows(20, 8);
    const batch = await over(client, await start(client, asked));
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 20, completed: 20, failed: 0 },
    });
    const answered = new Map(
      (await linesOf(client, batch.output_file_id)).map(({ custom_id, response }) => [
        custom_id,
        response.body.choices[0]!.message.content,
      ]),
    );
    for (const { custom_id, body } of asked as {
      custom_id: string;
      body: OpenAI.ChatCompletionCreateParamsNonStreaming;
    }[]) {
      const single = await client.chat.completions.create(body);
      expect([custom_id, answered.get(custom_id)]).toEqual([custom_id, single.choices[0]!.message.content]);
    }
    expect(await replica.metric('llmservice_batch_requests_total')).not.toBeNaN();
  });

  test('of 50,000 lines that are all wrong, the first are reported, and others answered meanwhile', async () => {
    const id = await start(
      client,
      Array.from({ length: 50_000 }, (_, line) => ({ line })),
    );
    const asked = { model: 'demo', prompt: 'x', max_tokens: 1 };
    expect((await client.completions.create(asked)).choices).toHaveLength(1);
    const batch = await over(client, id);
    expect(batch.status).toBe('failed');
    expect(batch.errors!.data).toHaveLength(20);
  });
});

describe('in S3', () => {
  let s3: S3Server;
  let one: ReplicaProcess;
  let other: ReplicaProcess;
  beforeEach(async () => {
    s3 = await S3Server.start({ keepsEtags: true });
    s3.put('work', '', { keep: '' });
    const env = {
      LLMSERVICE_BATCHES_BYTES: String(2 ** 26),
      LLMSERVICE_BATCHES_URI: 's3://work/batches',
      LLMSERVICE_BATCHES_CONCURRENT: '4',
      ...s3Environment,
    };
    const start = (): Promise<ReplicaProcess> =>
      ReplicaProcess.start({ uri: demoCheckpoint, endpoint: s3.endpoint, env });
    [one, other] = await Promise.all([start(), start()]);
    await Promise.all([one.ready(), other.ready()]);
  });
  afterEach(async () => {
    await Promise.all([one.stop(), other.stop()]);
    await s3.stop();
  });

  test('either replica knows of a batch, and its files', async () => {
    const id = await start(clientOf(one), rows(10, 4));
    const batch = await over(clientOf(other), id);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 10 } });
    expect(await linesOf(clientOf(other), batch.output_file_id)).toHaveLength(10);
    await clientOf(one).files.delete(batch.output_file_id!);
    await expect(clientOf(other).files.retrieve(batch.output_file_id!)).rejects.toThrow(NotFoundError);
  });

  test('a batch of a replica that drains continues at the other, and each row is answered once', async () => {
    const id = await start(clientOf(one), rows(200, 64));
    await eventually('rows to be answered', async () => {
      const busy = await Promise.all(
        [one, other].map(async (each) => (await each.health()).engine!.inFlight),
      );
      return busy.some((inFlight) => inFlight > 0);
    });
    const [running, idle] =
      (await one.health()).engine!.inFlight > 0 ? ([one, other] as const) : ([other, one] as const);
    running.child.kill('SIGTERM');
    expect(await running.exited()).toBe(0);
    const batch = await over(clientOf(idle), id);
    expect(batch.request_counts).toEqual({ total: 200, completed: 200, failed: 0 });
    const ids = (await linesOf(clientOf(idle), batch.output_file_id)).map(({ custom_id }) =>
      Number(custom_id),
    );
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, row) => row));
  });

  test('a batch of a replica that is lost continues at the other', async () => {
    const id = await start(clientOf(one), rows(100, 64));
    await eventually('rows to be answered', async () => {
      const busy = await Promise.all(
        [one, other].map(async (each) => (await each.health()).engine!.inFlight),
      );
      return busy.some((inFlight) => inFlight > 0);
    });
    const [running, idle] =
      (await one.health()).engine!.inFlight > 0 ? ([one, other] as const) : ([other, one] as const);
    running.child.kill('SIGKILL');
    const batch = await over(clientOf(idle), id);
    expect(batch.request_counts).toEqual({ total: 100, completed: 100, failed: 0 });
    const lines = await linesOf(clientOf(idle), batch.output_file_id);
    expect(new Set(lines.map(({ custom_id }) => custom_id)).size).toBe(100);
    expect(lines).toHaveLength(100);
  });

  test('a batch is cancelled at either replica', async () => {
    const id = await start(clientOf(one), rows(200, 400));
    await eventually(
      'the batch to run',
      async () => (await clientOf(other).batches.retrieve(id)).status === 'in_progress',
    );
    await clientOf(other).batches.cancel(id);
    expect((await over(clientOf(one), id)).status).toBe('cancelled');
  });

  test('S3 that is away for a while costs a batch nothing', async () => {
    const id = await start(clientOf(one), rows(100, 32));
    await eventually(
      'the batch to run',
      async () => (await clientOf(one).batches.retrieve(id)).status === 'in_progress',
    );
    await s3.pause();
    await expect(clientOf(one).batches.retrieve(id)).rejects.toMatchObject({ status: 503 });
    await s3.resume();
    expect((await over(clientOf(one), id)).request_counts).toEqual({ total: 100, completed: 100, failed: 0 });
  });
});

test('an S3 server without conditional writes runs no batches, and says so', async () => {
  const s3 = await S3Server.start();
  s3.put('work', '', { keep: '' });
  const env = {
    LLMSERVICE_BATCHES_BYTES: String(2 ** 26),
    LLMSERVICE_BATCHES_URI: 's3://work/batches',
    ...s3Environment,
  };
  const replica = await ReplicaProcess.start({ uri: demoCheckpoint, endpoint: s3.endpoint, env });
  await replica.ready();
  await eventually('the server to know', () => replica.log.includes('no batch runs'));
  await expect(start(clientOf(replica), rows(1, 1))).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('conditions'),
  });
  await replica.stop();
  await s3.stop();
});
