// Numbers of requests at the ends of what the document allows, and beyond, asked of a whole replica: each is answered or
// refused, and none of them reaches the engine as something that it cannot compute with, which would end every stream.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { bodySchemas } from '../../runtime/src/request/validate/body-schemas.js';
import type { JsonSchema } from '../../runtime/src/request/body/field-table.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

let replica: ReplicaProcess;
beforeAll(async () => {
  replica = await ReplicaProcess.start({
    uri: demoCheckpoint,
    engine: { classifierFromToken: ['n', 'y'] },
  });
  await replica.ready();
});
afterAll(() => replica.stop());

const extremes = [
  0,
  -1,
  Number.MIN_VALUE,
  1e-40,
  1e40,
  2 ** 31,
  2 ** 32 + 1,
  2 ** 53,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
];

const messages = [{ role: 'user', content: 'What is a pod?' }];
/** Little to generate, on chat without a limit: a field may be checked against it. */
const routes = {
  completions: { path: '/v1/completions', body: { prompt: 'A pod', max_tokens: 2 } },
  chat: { path: '/v1/chat/completions', body: { messages, temperature: 0 } },
  messages: { path: '/v1/messages', body: { model: 'demo', messages, max_tokens: 2 } },
  responses: { path: '/v1/responses', body: { input: 'What is a pod?', max_output_tokens: 2 } },
  predict: { path: '/v1/models/demo:predict', body: { prompt: 'A pod', max_tokens: 2 } },
  generate: { path: '/generate', body: { prompt: 'A pod', max_tokens: 2 } },
  embeddings: { path: '/v1/embeddings', body: { input: 'A pod' } },
  rerank: { path: '/v1/rerank', body: { query: 'A pod', documents: ['A node'] } },
} as const;

interface NumberField {
  readonly field: string;
  readonly schema: JsonSchema;
  /** The field's part of a body. */
  readonly set: (value: number) => object;
}

/** The numbers among properties, those of objects too, with the first of what is required beside them. */
function numbersIn(properties: Record<string, JsonSchema>): NumberField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const own: NumberField = { field: name, schema, set: (value) => ({ [name]: value }) };
    const types = [schema['type']].flat();
    const beside = Object.fromEntries(
      ((schema['required'] ?? []) as string[]).map((each) => {
        const { enum: values } = (schema['properties'] as Record<string, { enum?: unknown[] }>)[each]!;
        return [each, values?.[0]];
      }),
    );
    const within = numbersIn((schema['properties'] ?? {}) as Record<string, JsonSchema>).map((each) => ({
      ...each,
      field: `${name}.${each.field}`,
      set: (value: number) => ({ [name]: { ...beside, ...each.set(value) } }),
    }));
    return types.includes('number') || types.includes('integer') ? [own] : within;
  });
}

const fields = (Object.keys(routes) as (keyof typeof routes)[]).flatMap((kind) =>
  numbersIn(bodySchemas[kind]['properties'] as Record<string, JsonSchema>).map(
    (each) => [kind, each.field, each] as const,
  ),
);

test.each(fields)('%s: %s', async (kind, field, { schema: { minimum, maximum }, set }) => {
  const { path, body } = routes[kind];
  const bounds = [minimum, maximum].filter((bound): bound is number => typeof bound === 'number');
  const answers = [...bounds, ...extremes].map(async (value) => {
    const { status } = await replica.post(path, { ...body, ...set(value) });
    return { value, status };
  });
  const unexpected = (await Promise.all(answers)).filter(({ status }) => status !== 200 && status !== 400);
  // A request that may wait for next to nothing is refused as having waited for longer.
  expect(unexpected.filter(({ status }) => field !== 'max_queue_seconds' || status !== 503)).toEqual([]);
  expect((await replica.health()).engine).toMatchObject({ state: 'ready', restarts: 0 });
});
