// What who watches encrypted streams sees of them: the sizes of events.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { body, responsesClient } from '../protocols/responses.fixture.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { smallStore } from '../stored-responses/stored-response.fixture.js';
import { obfuscated } from './obfuscated.js';

const pieces = ['Hi', ' é', '!', ' a much longer piece of text than the others', '"}'];
const text = pieces.join('');

let server: ScriptedServer;
beforeAll(async () => {
  server = await ScriptedServer.start({ tools: true, storedResponses: smallStore() });
  server.script = function* () {
    for (const piece of pieces) yield output(byteIds(piece));
    yield { ...output([]), finish: 'stop', stopToken: 2 };
  };
});
afterAll(() => server.stop());

const messages = [{ role: 'user', content: 'x' }];
const protocols = [
  {
    path: '/v1/chat/completions',
    asked: { messages },
    textOf: /"delta":\{(?:"role":"assistant",)?"content":/,
  },
  { path: '/v1/completions', asked: { prompt: 'x' }, textOf: /"text":/ },
  { path: '/v1/responses', asked: body, textOf: /^event: response\.output_text\.delta/ },
  {
    path: '/v1/responses',
    asked: { ...body, background: true },
    textOf: /^event: response\.output_text\.delta/,
  },
];

const eventsOf = async (path: string, asked: object): Promise<readonly string[]> => {
  const answer = await server.post(path, { ...asked, stream: true });
  expect(answer.status).toBe(200);
  return (await answer.text()).split(/(?<=\n\n)/);
};

test.each(protocols)(
  'events of $path have one size where that is asked for',
  async ({ path, asked, textOf }) => {
    const plain = (await eventsOf(path, asked)).filter((event) => textOf.test(event));
    expect(plain.join('')).not.toContain('obfuscation');
    expect(new Set(plain.map((event) => Buffer.byteLength(event))).size).toBeGreaterThan(1);
    const padded = await eventsOf(path, { ...asked, stream_options: { include_obfuscation: true } });
    const ofText = padded.filter((event) => textOf.test(event));
    expect(ofText.length).toBe(plain.length);
    for (const event of ofText) {
      expect(Buffer.byteLength(event) % 256).toBe(0);
      const data = JSON.parse(event.slice(event.indexOf('{'))) as { obfuscation: string };
      expect(data.obfuscation).toMatch(/^[\w-]+$/);
    }
  },
);

test('OpenAI’s client reads the same text, of a response that it comes back for too', async () => {
  const client = responsesClient(server);
  const stream_options = { include_obfuscation: true };
  const streamed = client.responses.stream({ ...body, stream_options, background: true });
  const { id, output_text } = await streamed.finalResponse();
  expect(output_text).toBe(text);
  for (const include_obfuscation of [false, true]) {
    const again = await client.responses.retrieve(id, { stream: true, include_obfuscation });
    const deltas = [];
    for await (const event of again) if (event.type === 'response.output_text.delta') deltas.push(event);
    expect(deltas.map(({ delta }) => delta).join('')).toBe(text);
    expect(deltas.every((event) => 'obfuscation' in event)).toBe(include_obfuscation);
  }
});

test.each(['data: [DONE]\n\n', ': still working\n\n', 'event: response.completed\ndata: {"a":1}\n\n'])(
  '%j has no text, and stays as it is',
  (event) => {
    expect(obfuscated(event)).toBe(event);
  },
);
