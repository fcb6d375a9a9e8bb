// What a replica reports to a gateway's router of the tokens that a request took: whole answers, streams, refusals, and routers whose
// clients have gone, which half close.

import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import * as http from 'node:http';
import { text } from 'node:stream/consumers';
import { readUsage, type UsageReport } from '@llmservice/crds/keys';
import { endless, output, says } from '../scripted-engine.fixture.js';
import type { ScriptedServer } from '../scripted-server.fixture.js';
import { bearer, body, metric, startKeyedServer, type KeyedServer } from './keyed-server.fixture.js';

let server: ScriptedServer;
let ledger: KeyedServer['ledger'];
afterEach(() => server.stop());

const name = 'x-llmservice-usage';

async function ask(
  path: string,
  sent: object,
  headers: object = { [name]: 'report' },
): Promise<http.IncomingMessage> {
  const content = JSON.stringify(sent);
  const { port } = new URL(server.url);
  const given = { ...bearer('free'), ...headers, 'content-length': Buffer.byteLength(content) };
  const request = http.request({ port, path, method: 'POST', headers: given, agent: false });
  request.end(content);
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  return answer;
}

/** In the header, and in the trailer. */
async function reports(answer: http.IncomingMessage): Promise<(UsageReport | null)[]> {
  await text(answer);
  return [readUsage(answer.headers[name]), readUsage(answer.trailers[name])];
}

const used = (promptTokens: number, completionTokens: number, textTokens = 0): UsageReport => ({
  ...{ promptTokens, completionTokens, textTokens },
});

test('a whole answer has all of it in a header, a stream what it began with there and the rest in a trailer', async () => {
  ({ server, ledger } = await startKeyedServer());
  server.script = says('x'.repeat(30));
  expect(await reports(await ask('/v1/completions', body))).toEqual([used(10, 31), null]);
  const streamed = await reports(await ask('/v1/completions', { ...body, stream: true }));
  expect(streamed).toEqual([used(10, expect.any(Number) as unknown as number), used(10, 31)]);
  const several = { prompt: ['abc', 'abcdefghi'], n: 2, max_tokens: 50, stream: true };
  const [, all] = await reports(await ask('/v1/completions', several));
  expect(all).toEqual(used(14, 4 * 31));
});

test('embeddings, counted texts and refusals have what they cost', async () => {
  ({ server, ledger } = await startKeyedServer());
  server.script = function* () {
    yield { ...output([], 'stop'), embedding: Float32Array.of(3, 4) };
  };
  expect(await reports(await ask('/v1/embeddings', { input: ['a', 'bb'] }))).toEqual([used(5, 0), null]);
  const [counted] = await reports(await ask('/tokenize', { prompt: 'abc' }));
  expect(counted).toEqual(used(0, 0, 4));
  const [refused] = await reports(await ask('/v1/completions', { ...body, top_p: 'x'.repeat(400) }));
  expect(refused).toMatchObject({ promptTokens: 0, completionTokens: 0 });
  expect(refused!.textTokens).toBeGreaterThanOrEqual(100);
});

test('nobody gets a report who does not ask', async () => {
  ({ server, ledger } = await startKeyedServer());
  const answer = await ask('/v1/completions', { ...body, stream: true }, {});
  expect(await reports(answer)).toEqual([null, null]);
});

test('a router that half closes ends the request, and learns what was taken by then', async () => {
  ({ server, ledger } = await startKeyedServer());
  server.script = endless;
  const answer = await ask('/v1/completions', { ...body, stream: true });
  for (let i = 0; i < 4; i++) await once(answer, 'data');
  answer.socket.end();
  const [, all] = await reports(answer);
  const [record] = await ledger.accounted(1);
  expect(record).toMatchObject({ promptTokens: 10, finish: ['abort'] });
  expect(all!.promptTokens).toBe(10);
  // The engine's next step may come between.
  expect(record!.completionTokens - all!.completionTokens).toBeLessThanOrEqual(1);
  expect(all!.completionTokens).toBeGreaterThanOrEqual(4);
});

test('a router that half closes before an answer began learns it too', async () => {
  ({ server, ledger } = await startKeyedServer());
  server.script = endless;
  const content = JSON.stringify(body);
  const { port } = new URL(server.url);
  const headers = { ...bearer('free'), [name]: 'report', 'content-length': content.length };
  const options = { port, path: '/v1/completions', method: 'POST', headers, agent: false };
  const request = http.request(options);
  request.end(content);
  const generated = 'llmservice_key_completion_tokens_total{model_name="tiny",key="free"}';
  while (!((await metric(server, generated)) > 0));
  request.socket!.end();
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  expect(answer.statusCode).toBe(499);
  const [reported] = await reports(answer);
  expect(reported!.completionTokens).toBeGreaterThan(0);
  expect(await ledger.accounted(1)).toMatchObject([{ finish: ['abort'] }]);
});
