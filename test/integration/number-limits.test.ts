// Numbers of requests at the ends of what the document allows, and beyond, asked of a whole replica: each is answered or
// refused, and none of them reaches the engine as something that it cannot compute with, which would end every stream.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { bodySchemas } from '../../runtime/src/request/body/body-schemas.js';
import type { JsonSchema } from '../../runtime/src/request/body/request-fields.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

let replica: ReplicaProcess;
beforeAll(async () => {
  replica = await ReplicaProcess.start({ uri: demoCheckpoint });
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

/** Little to generate, on chat without a limit: a field may be checked against it. */
const routes = {
  completions: { path: '/v1/completions', body: { prompt: 'A pod', max_tokens: 2 } },
  chat: {
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'What is a pod?' }], temperature: 0 },
  },
} as const;

const fields = (Object.keys(routes) as (keyof typeof routes)[]).flatMap((kind) =>
  Object.entries(bodySchemas[kind]['properties'] as Record<string, JsonSchema>)
    .filter(([, { type }]) => [type].flat().some((each) => each === 'number' || each === 'integer'))
    .map(([field, schema]) => [kind, field, schema] as const),
);

test.each(fields)('%s: %s', async (kind, field, { minimum, maximum }) => {
  const { path, body } = routes[kind];
  const bounds = [minimum, maximum].filter((bound) => bound !== undefined);
  const answers = [...bounds, ...extremes].map(async (value) => {
    const { status } = await replica.post(path, { ...body, [field]: value });
    return { value, status };
  });
  const unexpected = (await Promise.all(answers)).filter(({ status }) => status !== 200 && status !== 400);
  // A request that may wait for next to nothing is told that it waited for longer.
  expect(unexpected.filter(({ status }) => field !== 'max_queue_seconds' || status !== 503)).toEqual([]);
  expect((await replica.health()).engine).toMatchObject({ state: 'ready', restarts: 0 });
});
