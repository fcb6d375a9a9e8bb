// vLLM's repetition_detection: an answer that repeats itself ends, streamed and not, on each route that takes the field.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { events, json } from '../answers.fixture.js';
import { byteIds, output, says, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

const messages = [{ role: 'user', content: 'x' }];
const routes: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ['/v1/chat/completions', { messages }],
  completions: ['/v1/completions', { prompt: 'x', max_tokens: 60 }],
  predict: ['/v1/models/tiny:predict', { prompt: 'x' }],
  generate: ['/generate', { prompt: 'x' }],
};
const thrice = { repetition_detection: { max_pattern_size: 4, min_pattern_size: 2, min_count: 3 } };
const post = (route: string, more: object): Promise<Response> => {
  const [path, body] = routes[route]!;
  return server.post(path, { ...body, ...more });
};

test.each(['chat', 'completions'])('%s: ends it, says so, and leaves the engine', async (route) => {
  for (const script of [
    says('So ab', 'ab', 'ab', 'ab'),
    says('So abababab'),
    says(...Array.from('So abababab')),
  ]) {
    server.script = script;
    const { choices, usage } = await json(await post(route, thrice));
    const text = 'So ababab';
    expect(choices[0]).toMatchObject({
      ...(route === 'chat' ? { message: { content: text } } : { text }),
      finish_reason: 'repetition',
      stop_reason: 'repetition_detected',
    });
    expect(usage!.completion_tokens).toBe(text.length);
    const chunks = (await events(await post(route, { ...thrice, stream: true }))).slice(0, -1);
    const streamed = chunks.flatMap((chunk) => chunk.choices) as unknown as {
      readonly text?: string;
      readonly delta?: { readonly content?: string };
      readonly finish_reason: string | null;
    }[];
    expect(streamed.map((choice) => choice.text ?? choice.delta?.content ?? '').join('')).toBe(text);
    expect(streamed.at(-1)!.finish_reason).toBe('repetition');
  }
  expect(server.engine.open).toBe(0);
});

test.each([
  ['predict', 'response'],
  ['generate', 'text'],
])('%s: ends it', async (route, member) => {
  server.script = says('So abababab');
  expect(await (await post(route, thrice)).json()).toMatchObject({ [member]: 'So ababab' });
});

test('counts in vLLM’s metric of how generations ended', async () => {
  server.script = says('abababab');
  await post('chat', thrice);
  const page = await (await server.get('/metrics')).text();
  expect(page).toMatch(/^vllm:request_success_total\{[^}]*finished_reason="repetition"[^}]*\} 1$/m);
});

test.each<[string, object, Script, string]>([
  ['what else ends an answer with the same token comes first', { max_tokens: 6 }, cut('ababab'), 'length'],
  ['min_tokens are there before', { min_tokens: 7 }, says('abababab'), 'repetition'],
  ['a pattern that is larger is none', {}, says('abcdeabcdeabcde'), 'stop'],
  ['0 detects nothing', { repetition_detection: { max_pattern_size: 0 } }, says('abababab'), 'stop'],
])('%s', async (_, more, script, ended) => {
  server.script = script;
  const { choices, usage } = await json(await post('chat', { ...thrice, ...more }));
  expect(choices[0]!.finish_reason).toBe(ended);
  if ('min_tokens' in more) expect(usage!.completion_tokens).toBe(7);
});

/** An answer that max_tokens ends with its last token. */
function cut(text: string): Script {
  return function* () {
    yield output(byteIds(text), 'length');
  };
}

test.each<[object, string]>([
  [{ max_pattern_size: 4 }, 'repetition_detection.min_count must be at least 2'],
  [{ max_pattern_size: 4, min_count: 1 }, 'repetition_detection.min_count must be at least 2'],
  [
    { max_pattern_size: 2, min_pattern_size: 3, min_count: 2 },
    'repetition_detection.min_pattern_size must be at most max_pattern_size, which is 2',
  ],
  [{ max_pattern_size: 5000, min_count: 2 }, 'repetition_detection.max_pattern_size must be <= 4096'],
  [{ max_size: 5 }, 'repetition_detection.max_size is not a known field'],
])('refuses %j', async (repetition_detection, message) => {
  for (const route of Object.keys(routes)) {
    const answer = await post(route, { repetition_detection });
    expect([route, answer.status]).toEqual([route, 400]);
    expect(JSON.stringify(await answer.json())).toContain(message);
  }
});
