// Files and batches, as OpenAI's own client uploads, runs, lists and deletes them.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI, { NotFoundError, toFile } from 'openai';
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { bearer, keys } from '../access/keyed-server.fixture.js';
import { smallBatches } from '../batches/batch-service.fixture.js';
import { MemoryObjectStore } from '../objects/memory-object-store.js';
import { endless, output, says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
let store: MemoryObjectStore;
/** Of the key `free`, and of another. */
let client: OpenAI;
let other: OpenAI;
beforeEach(async () => {
  store = new MemoryObjectStore();
  server = await ScriptedServer.start({ access: { keys }, batches: smallBatches({}, store) });
  [client, other] = [clientOf('free'), clientOf('urgent')];
});
afterEach(() => server.stop());

const clientOf = (key: string): OpenAI =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey: `secret-${key}`, maxRetries: 0 });

type Endpoint = OpenAI.Batches.BatchCreateParams['endpoint'];
const messages = [{ role: 'user', content: 'x' }];
const row = (id: string, body: object = { messages }, url = '/v1/chat/completions'): string =>
  JSON.stringify({ custom_id: id, method: 'POST', url, body });

const upload = async (text: string | Buffer, of = client): Promise<OpenAI.FileObject> =>
  of.files.create({ purpose: 'batch', file: await toFile(Buffer.from(text as string), 'in.jsonl') });

async function start(
  text: string,
  endpoint: Endpoint = '/v1/chat/completions',
  of = client,
): Promise<OpenAI.Batch> {
  const { id } = await upload(text, of);
  return of.batches.create({
    input_file_id: id,
    endpoint,
    completion_window: '24h',
    metadata: { nightly: 'yes' },
  });
}

async function over(id: string, of = client): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await of.batches.retrieve(id);
    if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch;
    await wait(5);
  }
}

interface Result {
  custom_id: string;
  response: { status_code: number; request_id: string; body: Record<string, unknown> };
}
const linesOf = async (id: string | undefined, of = client): Promise<Result[]> =>
  (await (await of.files.content(id!)).text())
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Result);

describe('a file', () => {
  test('is uploaded, found, read and deleted', async () => {
    const text = `${row('ä')}\n`;
    const file = await upload(text);
    expect(file).toMatchObject({
      object: 'file',
      bytes: Buffer.byteLength(text),
      filename: 'in.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect(await (await client.files.content(file.id)).text()).toBe(text);
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toThrow(NotFoundError);
  });

  test('of megabytes comes back as it went', async () => {
    const bytes = Buffer.alloc(9_000_000, 'abcdefg\n');
    const { id } = await upload(bytes);
    const back = Buffer.from(await (await client.files.content(id)).arrayBuffer());
    expect(back.equals(bytes)).toBe(true);
  });

  test('that is too large, or of another purpose, is refused and leaves nothing', async () => {
    await expect(upload(Buffer.alloc(10_000_001))).rejects.toMatchObject({ status: 413 });
    const file = await toFile(Buffer.from('x'), 'in.jsonl');
    await expect(client.files.create({ purpose: 'fine-tune', file })).rejects.toMatchObject({
      status: 400,
      param: 'purpose',
    });
    const expires_after = { anchor: 'created_at', seconds: 3600 } as const;
    await expect(client.files.create({ purpose: 'batch', file, expires_after })).rejects.toMatchObject({
      status: 400,
      param: 'expires_after[anchor]',
    });
    expect((await client.files.list()).data).toEqual([]);
    expect(server.parts.batches!.files.room.bytes).toBe(0);
  });

  test.each([
    ['JSON', '{}', 'application/json'],
    [
      'half a form',
      '--B\r\nContent-Disposition: form-data; name="file"\r\n\r\nx',
      'multipart/form-data; boundary=B',
    ],
    ['nothing', '', 'multipart/form-data; boundary=B'],
    [
      'a form without a file',
      '--B\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--B--',
      'multipart/form-data; boundary=B',
    ],
  ])('that is %s is none', async (_, body, type) => {
    const response = await server.post('/v1/files', body, { ...bearer('free'), 'content-type': type });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request' } });
  });

  test('that breaks off leaves nothing', async () => {
    const sent = request(`${server.url}/v1/files`, {
      method: 'POST',
      headers: { ...bearer('free'), 'content-type': 'multipart/form-data; boundary=B' },
    });
    sent.on('error', () => undefined);
    sent.write('--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    sent.write(Buffer.alloc(5_000_000, 'x'));
    const { room } = server.parts.batches!.files;
    while (room.bytes === 0) await wait(5);
    expect(await store.list('')).toHaveLength(1);
    sent.destroy();
    while (room.bytes > 0) await wait(5);
    expect(await store.list('')).toEqual([]);
    expect(server.parts.bodies.heldBytes).toBe(0);
  });

  test('is listed by page, with those of its key', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.push((await upload('x')).id);
      await wait(2);
    }
    await upload('x', other);
    const listed: string[] = [];
    for await (const { id } of client.files.list({ limit: 2 })) listed.push(id);
    expect(listed).toEqual(ids.toReversed());
    const page = await client.files.list({ order: 'asc', limit: 3, after: ids[0]! });
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(1, 4));
    expect((await client.files.list({ purpose: 'batch_output' })).data).toEqual([]);
    await expect(client.files.list({ after: 'x' })).rejects.toMatchObject({ status: 400, param: 'after' });
  });
});

describe('a batch', () => {
  test.each<[Endpoint, object, object]>([
    ['/v1/chat/completions', { messages }, { object: 'chat.completion' }],
    ['/v1/completions', { prompt: 'x' }, { object: 'text_completion' }],
    ['/v1/responses', { input: 'x' }, { object: 'response', status: 'completed' }],
    ['/v1/embeddings', { input: 'x' }, { object: 'list' }],
  ])('of %s is answered as each of its requests would be', async (endpoint, body, answer) => {
    server.script = (request, signal) =>
      request.pooling === 'none'
        ? says('Hi', '!')(request, signal)
        : [{ ...output([]), embedding: Float32Array.of(3, 4), finish: 'stop' }];
    const rows = ['a', 'b', 'c'].map((id) => row(id, body, endpoint));
    const started = await start(rows.join('\n'), endpoint);
    expect(started).toMatchObject({
      object: 'batch',
      status: 'validating',
      endpoint,
      completion_window: '24h',
      metadata: { nightly: 'yes' },
    });
    const batch = await over(started.id);
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 3, completed: 3, failed: 0 },
      errors: null,
      error_file_id: null,
    });
    expect(batch.usage!.input_tokens).toBeGreaterThan(0);
    const lines = await linesOf(batch.output_file_id);
    expect(lines.map(({ custom_id }) => custom_id).sort()).toEqual(['a', 'b', 'c']);
    for (const { response } of lines) expect(response).toMatchObject({ status_code: 200, body: answer });
    expect(server.engine.requests.every(({ priority }) => priority >= 8)).toBe(true);
    expect(server.engine.requests.every(({ fairnessKey }) => fairnessKey === 'free')).toBe(true);
  });

  test('has the errors of its requests in a file of their own', async () => {
    const rows = [
      row('good'),
      row('bad', { messages, temperature: -1 }),
      row('ugly', { messages, stream: true }),
    ];
    const batch = await over((await start(rows.join('\n'))).id);
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 3, completed: 1, failed: 2 },
    });
    const errors = await linesOf(batch.error_file_id);
    expect(errors.map(({ custom_id }) => custom_id).sort()).toEqual(['bad', 'ugly']);
    for (const { response } of errors)
      expect(response).toMatchObject({ status_code: 400, body: { error: { code: 'invalid_request' } } });
  });

  test('with lines that are wrong fails with them', async () => {
    const batch = await over((await start([row('a'), row('a'), '{'].join('\n'))).id);
    expect(batch).toMatchObject({ status: 'failed', output_file_id: null });
    expect(batch.errors!.data!.map(({ code, line }) => [code, line])).toEqual([
      ['duplicate_custom_id', 2],
      ['invalid_json_line', 3],
    ]);
  });

  test('is cancelled, and what runs of it takes the engine no longer', async () => {
    server.script = endless;
    const { id } = await start([row('a'), row('b')].join('\n'));
    while (server.engine.open < 2) await wait(5);
    expect((await client.batches.cancel(id)).status).toBe('cancelling');
    expect((await over(id)).status).toBe('cancelled');
    while (server.engine.open > 0) await wait(5);
    expect(server.engine.open).toBe(0);
    await expect(client.batches.cancel(id)).resolves.toMatchObject({ status: 'cancelled' });
  });

  test('is of its key alone, and so are its files', async () => {
    const started = await start(row('a'));
    const batch = await over(started.id);
    for (const ask of [
      () => other.batches.retrieve(batch.id),
      () => other.batches.cancel(batch.id),
      () => other.files.content(batch.output_file_id!),
      () => other.files.delete(batch.input_file_id),
      () =>
        other.batches.create({
          input_file_id: batch.input_file_id,
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
        }),
    ])
      await expect(ask()).rejects.toThrow(NotFoundError);
    expect((await other.batches.list()).data).toEqual([]);
    expect((await client.batches.list()).data.map(({ id }) => id)).toEqual([batch.id]);
  });

  test('spends the budget of its key, and waits for it', async () => {
    const poor = clientOf('single');
    const batch = await over((await start([row('a'), row('b')].join('\n'), undefined, poor)).id, poor);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 2 } });
  });

  test.each<[string, object, string]>([
    ['an endpoint that is none', { endpoint: '/v1/moderations' }, 'endpoint'],
    ['another window', { completion_window: '1h' }, 'completion_window'],
    ['no file', { input_file_id: undefined }, 'input_file_id'],
    ['a number as metadata', { metadata: { a: 1 } }, 'metadata.a'],
    [
      'an age of its own',
      { output_expires_after: { anchor: 'created_at', seconds: 3600 } },
      'output_expires_after',
    ],
  ])('with %s is refused', async (_, changes, param) => {
    const { id } = await upload(row('a'));
    const body = { input_file_id: id, endpoint: '/v1/completions', completion_window: '24h', ...changes };
    const response = await server.post('/v1/batches', body, bearer('free'));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  test('of a batch’s output is refused', async () => {
    const batch = await over((await start(row('a'))).id);
    const again = client.batches.create({
      input_file_id: batch.output_file_id!,
      endpoint: '/v1/completions',
      completion_window: '24h',
    });
    await expect(again).rejects.toMatchObject({ status: 400, param: 'input_file_id' });
  });
});

test('requests that somebody waits for are answered while a batch runs', async () => {
  server.script = endless;
  const { id } = await start(Array.from({ length: 50 }, (_, number) => row(String(number))).join('\n'));
  while (server.engine.open < 4) await wait(5);
  expect(server.engine.open).toBe(4);
  server.script = says('Hi');
  expect((await server.post('/v1/completions', { prompt: 'x' }, bearer('urgent'))).status).toBe(200);
  await client.batches.cancel(id);
  await over(id);
});
