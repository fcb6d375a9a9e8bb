// Each of OpenAI's and Anthropic's request fields on each of its routes: honoured, so that it changes something and
// its bad values are refused, or refused. The rows are those of README.md.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { smallBatches } from '../../runtime/src/http/batches/batch-service.fixture.js';
import { scriptOf } from '../../runtime/src/http/call-script.fixture.js';
import { output } from '../../runtime/src/http/scripted-engine.fixture.js';
import { ScriptedServer } from '../../runtime/src/http/scripted-server.fixture.js';
import {
  smallMemory,
  storedConversation,
  storedResponse,
} from '../../runtime/src/http/stored-responses/stored-response.fixture.js';
import { StoredResponses } from '../../runtime/src/http/stored-responses/stored-responses.js';
import { conformanceRows, titleOf, type ConformanceRow } from './conformance-page.js';
import type { ClientKind } from './client-fields.js';
import { BodySender } from './send-body.js';
import {
  asksForNothing,
  earlierResponse,
  labels,
  minimal,
  sampleOf,
  samples,
  storedConversationId,
} from './samples.js';

const rows = conformanceRows();
const { thinkBegin, thinkEnd } = ScriptedServer.markers;

let server: ScriptedServer;
let sender: BodySender;
beforeAll(async () => {
  const memory = smallMemory(() => 0, 10_000);
  await memory.put('', storedResponse(earlierResponse));
  await memory.put('', storedConversation(storedConversationId));
  const storedResponses = new StoredResponses(memory);
  // Batches that do not run.
  const batches = smallBatches({ isServing: () => false });
  server = await ScriptedServer.start({ tools: true, storedResponses, batches });
  sender = new BodySender(server);
  await sender.upload();
  server.script = (request, signal) =>
    request.pooling === 'none'
      ? scriptOf(thinkBegin, 'So?', thinkEnd, 'Hi', ' é', '!')(request, signal)
      : [{ ...output([]), embedding: Float32Array.of(3, 4), finish: 'stop' }];
});
afterAll(() => server.stop());

const post = (kind: ClientKind, body: object): Promise<Response> => sender.send(kind, body);

/** What is asked of the engine and answered to the client, without what differs from request to request. */
async function observe(kind: ClientKind, body: object): Promise<string> {
  server.engine.requests.length = 0;
  const response = await post(kind, body);
  const answer = (await response.text()).replace(/"(id|created|\w+_at)":("[^"]*"|\d+),/g, '');
  expect({ body, status: response.status, answer }).toMatchObject({ status: 200 });
  const ofEachRequest = (key: string, value: unknown): unknown => {
    if (key === 'id' || (key === 'seed' && !('seed' in body))) return undefined;
    return typeof value === 'bigint' ? String(value) : value;
  };
  return JSON.stringify([server.engine.requests, answer], ofEachRequest);
}

/** The first of the values that is not taken is refused with the field's name; one of them must be. */
async function expectRefusal({ kind, field }: ConformanceRow, values: readonly unknown[]): Promise<void> {
  for (const value of values) {
    const response = await post(kind, { ...minimal[kind], [field]: value });
    const { error } = (await response.json()) as { error?: { param: string; message: string } };
    if (response.status === 200) continue;
    const { param = '', message } = error ?? {};
    expect({ status: response.status, param: param.split(/[.[]/)[0] }).toEqual({ status: 400, param: field });
    expect(message).toContain(field);
    return;
  }
  throw new Error(`every value of ${field} is taken: it is neither honoured nor refused`);
}

/** One of them is wrong, whatever the field's type is. */
const oddities = [{ '': [] }, 'no value of this field', -1.5, [[]], true];

test.each(rows.map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
  const { kind, field, verdict } = row;
  const sample = sampleOf(kind, field);
  if (verdict === 'refused') {
    await expectRefusal(row, [sample?.value ?? null, ...oddities]);
    return;
  }
  if (sample === undefined) throw new Error(`${field} is honoured: samples.ts needs a value of it`);
  const without = { ...minimal[kind], ...sample.beside };
  const [before, after] = [
    await observe(kind, without),
    await observe(kind, { ...without, [field]: sample.value }),
  ];
  if (asksForNothing(kind, field)) expect(after).toBe(before);
  else expect(after).not.toBe(before);
  await expectRefusal(row, oddities);
});

test('the samples name no field that no client has', () => {
  const known = new Set(rows.map(({ field }) => field));
  expect(
    [...Object.keys(samples).map((name) => name.replace(/^\w+\./, '')), ...labels].filter(
      (field) => !known.has(field),
    ),
  ).toEqual([]);
});
