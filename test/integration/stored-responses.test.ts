// Stored and background responses of a whole replica, as OpenAI's own Node client uses them: the answers are those of a
// client that keeps its conversation itself. Two replicas that share a bucket find each other's.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import OpenAI, { NotFoundError } from 'openai';
import { eventually } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { s3Environment, S3Server } from './s3-server.js';

jest.setTimeout(120_000);

let replica: ReplicaProcess;
let client: OpenAI;
beforeAll(async () => {
  replica = await ReplicaProcess.start({
    uri: demoCheckpoint,
    env: { LLMSERVICE_STORED_RESPONSES_BYTES: String(2 ** 24), LLMSERVICE_STORED_RESPONSES_COUNT: '8' },
  });
  await replica.ready();
  client = new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => replica.stop());

async function textsOf({ conversations }: OpenAI, id: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const item of conversations.items.list(id, { order: 'asc', limit: 3 }))
    if (item.type === 'message')
      texts.push(item.content.map((part) => ('text' in part ? part.text : '')).join(''));
  return texts;
}

const asked = { model: 'demo', temperature: 0, max_output_tokens: 24 };
const question = 'What is the capital of France?';
const next = 'And of Italy?';
/** Takes hundreds of tokens. */
const schema = {
  type: 'object',
  properties: { text: { type: 'string', minLength: 2000 } },
  required: ['text'],
  additionalProperties: false,
};
const long = {
  model: 'demo',
  input: question,
  text: { format: { type: 'json_schema' as const, name: 'long', schema } },
};

test('a conversation by ids is the conversation itself, streamed and not', async () => {
  const first = await client.responses.create({ ...asked, input: question });
  const input = [
    { role: 'user' as const, content: question },
    ...first.output,
    { role: 'user' as const, content: next },
  ];
  const sent = await client.responses.create({
    ...asked,
    input,
    store: false,
  } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
  const continued = { ...asked, input: next, previous_response_id: first.id };
  const whole = await client.responses.create(continued);
  const streamed = await client.responses.stream(continued).finalResponse();
  for (const { output_text, usage } of [whole, streamed]) {
    expect(output_text).toBe(sent.output_text);
    expect(usage!.input_tokens).toBe(sent.usage!.input_tokens);
  }
  expect(await client.responses.retrieve(whole.id)).toMatchObject({ output_text: whole.output_text });
});

test('a conversation is what its client would send itself, and has all that is said at once', async () => {
  const { id } = await client.conversations.create({ metadata: { topic: 'capitals' } });
  const first = await client.responses.create({ ...asked, input: question, conversation: id });
  const continued = await client.responses
    .stream({ ...asked, input: next, conversation: id })
    .finalResponse();
  const sent = await client.responses.create({ ...asked, input: next, previous_response_id: first.id });
  expect(continued.output_text).toBe(sent.output_text);
  expect(await textsOf(client, id)).toEqual([question, first.output_text, next, continued.output_text]);
  const inputs = ['Rome?', 'Bern?', 'Oslo?', 'Lima?'];
  await Promise.all(
    inputs.map((input) => client.responses.create({ ...asked, input, conversation: { id }, store: false })),
  );
  const said = (await textsOf(client, id)).slice(4);
  expect(said).toHaveLength(8);
  expect(said.filter((_, index) => index % 2 === 0).sort()).toEqual(inputs.toSorted());
  expect(await client.conversations.delete(id)).toMatchObject({ deleted: true });
  const gone = client.responses.create({ ...asked, input: next, conversation: id });
  await expect(gone).rejects.toThrow(NotFoundError);
});

test('a response in the background is the one that is waited for', async () => {
  const waited = await client.responses.create({ ...asked, input: question });
  const { id, status } = await client.responses.create({ ...asked, input: question, background: true });
  expect(status).toBe('queued');
  await eventually(
    'the response to be complete',
    async () => (await client.responses.retrieve(id)).status === 'completed',
  );
  expect((await client.responses.retrieve(id)).output_text).toBe(waited.output_text);
});

test('a stream in the background continues without its client, and is resumed', async () => {
  const stream = await client.responses.create({ ...asked, input: question, background: true, stream: true });
  let id = '';
  let last = -1;
  for await (const event of stream) {
    if (event.type === 'response.created') id = event.response.id;
    last = event.sequence_number;
    if (event.type === 'response.output_text.delta') break;
  }
  stream.controller.abort();
  const rest = await client.responses.retrieve(id, { stream: true, starting_after: last });
  const numbers: number[] = [];
  for await (const event of rest) numbers.push(event.sequence_number);
  expect(numbers).toEqual(numbers.map((_, index) => last + 1 + index));
  const whole = await client.responses.create({ ...asked, input: question });
  expect((await client.responses.retrieve(id)).output_text).toBe(whole.output_text);
});

test('a response that is cancelled takes the engine no longer', async () => {
  const { id } = await client.responses.create({ ...long, background: true });
  expect((await client.responses.cancel(id)).status).toBe('cancelled');
  await eventually('the generation to end', async () => (await replica.health()).engine?.inFlight === 0);
});

test('of more than are stored at once the oldest is gone', async () => {
  const { id } = await client.responses.create({ ...asked, input: question });
  for (let i = 0; i < 8; i++)
    await client.responses.create({ ...asked, input: question, max_output_tokens: 1 });
  await expect(client.responses.retrieve(id)).rejects.toThrow(NotFoundError);
});

describe('in S3', () => {
  let s3: S3Server;
  let one: ReplicaProcess;
  let other: ReplicaProcess;
  beforeEach(async () => {
    s3 = await S3Server.start({ keepsEtags: true });
    s3.put('chats', '', { keep: '' });
    const env = {
      LLMSERVICE_STORED_RESPONSES_BYTES: String(2 ** 24),
      LLMSERVICE_STORED_RESPONSES_URI: 's3://chats/stored',
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

  const clientOf = ({ url }: ReplicaProcess): OpenAI =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const responsesOf = (of: ReplicaProcess): OpenAI['responses'] => clientOf(of).responses;

  test('a conversation has all that replicas add at once, and fails a response that cannot be added', async () => {
    const { id } = await clientOf(one).conversations.create({ items: [{ role: 'user', content: 'Hello.' }] });
    const said = { ...asked, max_output_tokens: 4, conversation: id };
    const inputs = ['Rome?', 'Bern?', 'Oslo?', 'Lima?', 'Bonn?', 'Kyiv?'];
    await Promise.all(
      inputs.map((input, index) => responsesOf(index % 2 === 0 ? one : other).create({ ...said, input })),
    );
    const texts = await textsOf(clientOf(other), id);
    expect(
      texts
        .slice(1)
        .filter((_, index) => index % 2 === 0)
        .sort(),
    ).toEqual(inputs.toSorted());
    const { data } = await clientOf(one).conversations.items.list(id, { limit: 1 });
    await clientOf(one).conversations.items.delete(data[0]!.id!, { conversation_id: id });
    await clientOf(one).conversations.items.create(id, { items: [{ role: 'user', content: 'Bye.' }] });
    const after = await textsOf(clientOf(other), id);
    expect([after.length, after.at(-1)]).toEqual([texts.length, 'Bye.']);
    const stream = await responsesOf(one).create({
      ...long,
      max_output_tokens: 100,
      conversation: id,
      stream: true,
    });
    let last = '';
    for await (const event of stream) {
      if (event.type === 'response.in_progress') await s3.pause();
      last = event.type;
    }
    expect(last).toBe('response.failed');
    await s3.resume();
    expect(await textsOf(clientOf(other), id)).toEqual(after);
  });

  test('what one replica stores, another continues, and finds after its end', async () => {
    const first = await responsesOf(one).create({ ...asked, input: question });
    await one.stop();
    const found = responsesOf(other);
    expect(await found.retrieve(first.id)).toMatchObject({ output_text: first.output_text });
    const continued = await found.create({ ...asked, input: next, previous_response_id: first.id });
    const kept = await client.responses.create({ ...asked, input: question });
    const inMemory = await client.responses.create({ ...asked, input: next, previous_response_id: kept.id });
    expect(continued.output_text).toBe(inMemory.output_text);
    await found.delete(first.id);
    await expect(found.retrieve(first.id)).rejects.toThrow(NotFoundError);
  });

  test('a response in the background is complete when its replica has drained', async () => {
    const { id } = await responsesOf(one).create({ ...long, max_output_tokens: 200, background: true });
    expect(await responsesOf(other).retrieve(id)).toMatchObject({
      status: expect.stringMatching(/^(queued|in_progress)$/),
    });
    one.child.kill('SIGTERM');
    expect(await one.exited()).toBe(0);
    const { status, usage } = await responsesOf(other).retrieve(id);
    expect([status, usage!.output_tokens]).toEqual(['incomplete', 200]);
  });

  test('a response in the background outlives S3 that is away when it ends', async () => {
    const { id } = await responsesOf(one).create({ ...long, max_output_tokens: 50, background: true });
    await s3.pause();
    await eventually('the generation to end', async () => (await one.health()).engine?.inFlight === 0);
    expect(await responsesOf(one).retrieve(id)).toMatchObject({ status: 'incomplete' });
    await s3.resume();
    await eventually(
      'the response to be stored',
      async () => (await responsesOf(other).retrieve(id)).status === 'incomplete',
    );
  });

  test('while S3 is away, answers come and are not stored, and what is stored is 503', async () => {
    const { id } = await responsesOf(one).create({ ...asked, input: question });
    await s3.pause();
    const unstored = await responsesOf(one).create({ ...asked, input: question });
    expect(unstored.status).toBe('completed');
    const fetched = responsesOf(one).retrieve(id);
    await expect(fetched).rejects.toMatchObject({ status: 503, code: 'server_busy' });
    const continued = responsesOf(one).create({ ...asked, input: next, previous_response_id: id });
    await expect(continued).rejects.toMatchObject({ status: 503, code: 'server_busy' });
    await s3.resume();
    expect(await responsesOf(other).retrieve(id)).toMatchObject({ id });
    await expect(responsesOf(one).retrieve(unstored.id)).rejects.toThrow(NotFoundError);
  });
});
