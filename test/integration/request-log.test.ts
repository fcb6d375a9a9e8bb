// The request log of a real replica in a real S3 server: what is in it, and what becomes of it while S3 is away.

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { stop } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { s3Environment, s3Keys, S3Server } from './s3-server.js';

jest.setTimeout(180_000);

interface Line {
  readonly id: string;
  readonly time: string;
  readonly status: number;
  readonly [field: string]: unknown;
}

let s3: S3Server;
let replica: ReplicaProcess;
beforeEach(async () => {
  s3 = await S3Server.start();
  s3.put('logs', '', { keep: '' });
});
afterEach(async () => {
  await replica.stop();
  await s3.stop();
});

async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
  const own = { LLMSERVICE_REQUEST_LOG_URI: 's3://logs/requests', ...s3Environment };
  replica = await ReplicaProcess.start({
    uri: demoCheckpoint,
    endpoint: s3.endpoint,
    env: { ...own, ...env },
  });
  await replica.ready();
}

async function lines(): Promise<Line[]> {
  const options = { endpoint: s3.endpoint, region: 'us-east-1', forcePathStyle: true, credentials: s3Keys };
  const client = new S3Client(options);
  const listed = await client.send(new ListObjectsV2Command({ Bucket: 'logs', Prefix: 'requests/' }));
  const keys = (listed.Contents ?? []).flatMap(({ Key }) => (Key?.endsWith('.jsonl') === true ? [Key] : []));
  for (const key of keys)
    expect(key).toMatch(/^requests\/\d{4}\/\d\d\/\d\d\/\d\d\/[\w.-]+-\d{8}T\d{9}Z-\d+\.jsonl$/);
  const objects = await Promise.all(
    keys.map((Key) => client.send(new GetObjectCommand({ Bucket: 'logs', Key }))),
  );
  const texts = await Promise.all(objects.map(({ Body }) => Body!.transformToString()));
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line),
  );
}

const question = { messages: [{ role: 'user', content: 'What is the capital of France?' }], temperature: 0 };
const ask = async (): Promise<string> => {
  const response = await replica.post('/v1/chat/completions', question);
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get('x-request-id')!;
};

test('has a line per request, refusals too, and no text; the drain writes what waits', async () => {
  await start();
  const ids = [await ask(), await ask()];
  await replica.post('/v1/completions', { prompt: 'Paris', surprise: 1 });
  await stop(replica.child);
  const written = await lines();
  expect(written.map(({ id }) => id)).toEqual([...ids, null]);
  expect(written[0]).toMatchObject({ route: '/v1/chat/completions', status: 200, finishReasons: ['stop'] });
  expect(written[2]).toMatchObject({ status: 400, errorCode: 'invalid_request' });
  expect(Math.abs(Date.parse(written[0]!.time) - Date.now())).toBeLessThan(120_000);
  expect(JSON.stringify(written)).not.toMatch(/Paris|France/);
});

test('has prompts and answers where that is asked for', async () => {
  await start({ LLMSERVICE_REQUEST_LOG_TEXT: 'true' });
  await ask();
  await stop(replica.child);
  const [line] = await lines();
  expect(line!['request']).toEqual(question);
  expect(line!['answers']).toEqual([
    { content: expect.stringContaining('Paris'), reasoning: '', toolCalls: [] },
  ]);
});

test('waits while S3 is away, says so once, and has every line once when it is back', async () => {
  await start();
  await s3.pause();
  const ids = [await ask()];
  const failures = 'llmservice_request_log_write_failures_total';
  await replica.eventually('two attempts', async () => (await replica.metric(failures)) >= 2);
  ids.push(await ask());
  await s3.resume();
  await replica.eventually(
    'the lines',
    async () => (await replica.metric('llmservice_request_log_lines_total')) === 2,
  );
  expect((await lines()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(await replica.metric('llmservice_request_log_lines_lost_total')).toBe(0);
  const logged = replica.log.split('\n').filter((line) => line.includes('the request log'));
  expect(logged.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
    'the request log cannot be written',
    'the request log is written again',
  ]);
});

test('a place that is none is refused at the start', async () => {
  const env = { LLMSERVICE_REQUEST_LOG_URI: 'https://logs/' };
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, env });
  expect(await replica.exited()).toBe(1);
  expect(replica.terminationMessage?.message).toContain(
    'LLMSERVICE_REQUEST_LOG_URI=https://logs/: expected s3://',
  );
});
