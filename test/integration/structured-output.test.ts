// Structured output, asked of whole replicas by OpenAI's own client: always as asked, the same with drafts and
// without, streamed and not, beside free ones. The demo model knows nothing of JSON, and is sampled hot: the constraint is the
// grammar's work alone.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import OpenAI from 'openai';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 12 },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    tags: { type: 'array', items: { enum: ['new', 'old', 'lost'] }, maxItems: 3 },
    place: {
      anyOf: [
        { type: 'null' },
        {
          type: 'object',
          properties: { x: { type: 'integer', minimum: -9, maximum: 9 } },
          required: ['x'],
          additionalProperties: false,
        },
      ],
    },
  },
  required: ['name', 'age', 'tags', 'place'],
  additionalProperties: false,
};

interface Person {
  readonly name: string;
  readonly age: number;
  readonly tags: readonly string[];
  readonly place: { readonly x: number } | null;
}

function expectPerson(text: string): void {
  const person = JSON.parse(text) as Person;
  expect(Object.keys(person).sort()).toEqual(['age', 'name', 'place', 'tags']);
  const { name, age, tags, place } = person;
  expect(typeof name).toBe('string');
  expect(Array.from(name).length).toBeLessThanOrEqual(12);
  expect(Number.isInteger(age) && age >= 0 && age <= 150).toBe(true);
  expect(tags.length).toBeLessThanOrEqual(3);
  for (const tag of tags) expect(['new', 'old', 'lost']).toContain(tag);
  if (place !== null) {
    expect(Object.keys(place)).toEqual(['x']);
    expect(Number.isInteger(place.x) && Math.abs(place.x) <= 9).toBe(true);
  }
}

const json_schema = { name: 'person', strict: true, schema };
const messages = [{ role: 'user' as const, content: 'What is a pod?' }];

const replicas = {} as Record<'plain' | 'drafting', ReplicaProcess>;
let client: OpenAI;
const clientOf = (replica: ReplicaProcess): OpenAI =>
  new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: 'none', maxRetries: 0 });

beforeAll(async () => {
  replicas.plain = await ReplicaProcess.start({ uri: demoCheckpoint });
  replicas.drafting = await ReplicaProcess.start({
    uri: demoCheckpoint,
    engine: { speculative: { method: 'mtp', tokens: 3 } },
  });
  await Promise.all(Object.values(replicas).map((each) => each.ready()));
  client = clientOf(replicas.plain);
});
afterAll(() => Promise.all(Object.values(replicas).map((each) => each.stop())));

/** Apart, since OpenAI's types discourage `seed`. */
const hot = (temperature: number, seed: number) => ({ temperature, seed });

const ask = (of: OpenAI, seed: number): Promise<OpenAI.ChatCompletion> =>
  of.chat.completions.create({
    model: 'demo',
    messages,
    ...hot(1.8, seed),
    reasoning_effort: 'none',
    max_completion_tokens: 400,
    response_format: { type: 'json_schema', json_schema },
  });

async function tokenOf(text: string): Promise<number> {
  const response = await replicas.plain.post('/tokenize', { prompt: text });
  const { tokens } = (await response.json()) as { tokens: number[] };
  expect(tokens).toHaveLength(1);
  return tokens[0]!;
}

describe('a JSON schema', () => {
  test('is followed by every answer that ends, hot as it is, with and without drafts alike', async () => {
    const seeds = Array.from({ length: 12 }, (_, i) => i);
    const plain = await Promise.all(seeds.map((seed) => ask(client, seed)));
    const texts = plain.map(({ choices }) => choices[0]!.message.content!);
    for (const text of texts) expectPerson(text);
    expect(plain.map(({ choices }) => choices[0]!.finish_reason)).toEqual(seeds.map(() => 'stop'));
    expect(new Set(texts).size).toBeGreaterThan(6);
    const drafted = await Promise.all(seeds.map((seed) => ask(clientOf(replicas.drafting), seed)));
    expect(drafted.map(({ choices }) => choices[0]!.message.content)).toEqual(texts);
  });

  test('is followed in a stream, the same as in one piece', async () => {
    const whole = await ask(client, 3);
    const stream = await client.chat.completions.create({
      model: 'demo',
      messages,
      ...hot(1.8, 3),
      reasoning_effort: 'none',
      max_completion_tokens: 400,
      response_format: { type: 'json_schema', json_schema },
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe(whole.choices[0]!.message.content);
  });

  test('begins after reasoning, which ends once its budget is spent', async () => {
    const [begin, end] = await Promise.all(['<think>', '</think>'].map(tokenOf));
    const answers = await Promise.all(
      Object.values(replicas).map(async (replica) => {
        const response = await replica.post('/v1/chat/completions', {
          messages,
          // By itself the model would not begin, and then never end.
          logit_bias: { [begin!]: 100, [end!]: -100 },
          thinking_token_budget: 12,
          temperature: 1,
          seed: 1,
          max_completion_tokens: 450,
          guided_json: schema,
        });
        return (await response.json()) as OpenAI.ChatCompletion;
      }),
    );
    const { choices, usage } = answers[0]!;
    const { message, finish_reason } = choices[0]!;
    // With the one that begins it.
    expect(usage!.completion_tokens_details!.reasoning_tokens).toBe(13);
    if (finish_reason === 'stop') expectPerson(message.content!);
    else expect(message.content).toMatch(/^\{/);
    expect(answers[1]!.choices[0]!.message).toEqual(message);
  });

  test('leaves free answers alongside it alone', async () => {
    const free = (): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions.create({ model: 'demo', messages, temperature: 0, max_completion_tokens: 30 });
    const alone = await free();
    const [beside] = await Promise.all([free(), ask(client, 5), ask(client, 6)]);
    expect(beside.choices[0]!.message.content).toBe(alone.choices[0]!.message.content);
  });
});

test('properties come in the order of the schema, those that are named by whole numbers too', async () => {
  const properties = '{"b":{"const":1},"10":{"const":2},"2":{"const":3}}';
  const guided_json = `{"type":"object","properties":${properties},"required":["b","10","2"],"additionalProperties":false}`;
  const body = { prompt: 'A pod', max_tokens: 800, seed: 1, guided_json };
  const response = await replicas.plain.post('/v1/completions', body);
  const [choice] = ((await response.json()) as OpenAI.Completion).choices;
  expect(choice!.finish_reason).toBe('stop');
  expect(choice!.text.replaceAll(/\s/g, '')).toBe('{"b":1,"10":2,"2":3}');
});

test.each<[object, RegExp]>([
  [{ guided_regex: '[0-9]{3}-[a-f]{2}' }, /^\d{3}-[a-f]{2}$/],
  [{ guided_choice: ['red', 'a "green"', 'größer'] }, /^(red|a "green"|größer)$/],
  [{ guided_grammar: 'root ::= ("ab" | "c") [0-9]\n' }, /^(ab|c)\d$/],
  [{ structured_outputs: { choice: ['yes', 'no'] } }, /^(yes|no)$/],
])('%j gives what it says, on every route', async (format, expected) => {
  const quick = { messages, temperature: 1.5, enable_thinking: false };
  const chat = await replicas.plain.post('/v1/chat/completions', { ...quick, ...format });
  const completion = await replicas.plain.post('/v1/completions', {
    prompt: 'A pod',
    max_tokens: 40,
    ...format,
  });
  const predict = await replicas.plain.post('/v1/models/demo:predict', { prompt: 'A pod', ...format });
  const texts = [
    ((await chat.json()) as OpenAI.ChatCompletion).choices[0]!.message.content,
    ((await completion.json()) as OpenAI.Completion).choices[0]!.text,
    ((await predict.json()) as { response: string }).response,
  ];
  for (const text of texts) expect(text).toMatch(expected);
});

test('any JSON object is one, or is cut by its length', async () => {
  const { choices } = await client.chat.completions.create({
    model: 'demo',
    messages,
    ...hot(1.5, 4),
    reasoning_effort: 'none',
    max_completion_tokens: 300,
    response_format: { type: 'json_object' },
  });
  const { message, finish_reason } = choices[0]!;
  expect(message.content).toMatch(/^\{/);
  if (finish_reason === 'stop') expect(typeof JSON.parse(message.content!)).toBe('object');
});

test('a grammar that comes to a dead end ends its request alone, with its reason', async () => {
  const format = { guided_grammar: 'root ::= "abc" [^\\0-\\U0010FFFF]\n' };
  const [response, beside] = await Promise.all([
    replicas.plain.post('/v1/chat/completions', { messages, ...format }),
    ask(client, 2),
  ]);
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe('GrammarInvalid');
  expect(error.message).toContain("nothing continues the request's structured output");
  expect(beside.choices[0]!.finish_reason).toBe('stop');
});

test.each([
  [{ guided_regex: '[a' }, 'invalid_request'],
  [{ guided_regex: '[^\\s\\S]' }, 'invalid_request'],
  [{ guided_grammar: 'root ::= other' }, 'GrammarInvalid'],
  [{ guided_json: { $ref: '#/$defs/absent' } }, 'GrammarInvalid'],
  [{ guided_json: { type: 'array', uniqueItems: true } }, 'invalid_request'],
])('%j is refused before a byte is streamed, and the engine continues', async (format, code) => {
  for (const stream of [true, false]) {
    const response = await replicas.plain.post('/v1/chat/completions', { messages, stream, ...format });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { code: string; type: string } };
    expect(error).toMatchObject({ code, type: 'invalid_request_error' });
  }
  expect((await ask(client, 1)).choices[0]!.finish_reason).toBe('stop');
});
