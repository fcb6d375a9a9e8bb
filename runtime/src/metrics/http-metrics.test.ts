// Answers and refusals at a server with the real routes, as its metrics count them.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { endless } from '../http/scripted-engine.fixture.js';
import { ScriptedServer } from '../http/scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

/** Series of a metric, without their histogram's buckets. */
async function series(name: string): Promise<string[]> {
  const page = await (await server.get('/metrics')).text();
  return page.split('\n').filter((line) => line.startsWith(`${name}{`));
}

const body = { messages: [{ role: 'user', content: 'x' }] };
const chat = '/v1/chat/completions';

test('answers are counted by route, method and class of status; probes and scrapes are not', async () => {
  await server.post(chat, body);
  await (await server.post(chat, { ...body, stream: true })).text();
  await server.post(chat, {});
  await server.get('/v1/models/tiny');
  await server.get('/surprise');
  await server.get('/health');
  const answers = await series('http_requests_total');
  expect(answers.toSorted()).toEqual([
    `http_requests_total{handler="${chat}",method="POST",status="2xx"} 2`,
    `http_requests_total{handler="${chat}",method="POST",status="4xx"} 1`,
    'http_requests_total{handler="/v1/models/:name",method="GET",status="2xx"} 1',
    'http_requests_total{handler="none",method="GET",status="4xx"} 1',
  ]);
  const durations = await series('http_request_duration_seconds_count');
  expect(durations).toContain(`http_request_duration_seconds_count{handler="${chat}",method="POST"} 3`);
});

test('what a full queue refuses is counted once for each request', async () => {
  const rejections = (): Promise<string[]> => series('vllm:admission_rejections_total');
  const of = (reason: string, count: number): string =>
    `vllm:admission_rejections_total{model_name="tiny",reason="${reason}"} ${String(count)}`;
  expect(await rejections()).toEqual([of('max_num_queued_reqs', 0), of('max_num_queued_tokens', 0)]);
  server.script = endless;
  const streams = await Promise.all(
    Array.from({ length: 8 }, () => server.post(chat, { ...body, stream: true })),
  );
  expect((await server.post(chat, { ...body, n: 2 })).status).toBe(503);
  expect((await server.post(chat, body)).status).toBe(503);
  await Promise.all(streams.map((stream) => stream.body!.cancel()));
  expect(await rejections()).toEqual([of('max_num_queued_reqs', 2), of('max_num_queued_tokens', 0)]);
});
