// SGLang's stop_regex: the text that matches ends an answer, streamed and not, on each route that takes the field.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { events, json } from '../answers.fixture.js';
import { byteIds, output, says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

const messages = [{ role: 'user', content: 'x' }];
const routes: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ['/v1/chat/completions', { messages }],
  completions: ['/v1/completions', { prompt: 'x', max_tokens: 50 }],
  predict: ['/v1/models/tiny:predict', { prompt: 'x' }],
  generate: ['/generate', { prompt: 'x' }],
};
const post = (route: string, more: object): Promise<Response> => {
  const [path, body] = routes[route]!;
  return server.post(path, { ...body, ...more });
};

interface Choice {
  readonly text?: string;
  readonly message?: { readonly content: string };
  readonly delta?: { readonly content?: string };
  readonly finish_reason: string | null;
  readonly stop_reason: string | null;
}

test.each(['chat', 'completions'])('%s: ends it, and leaves the engine', async (route) => {
  const stop_regex = ' (and|or) ';
  for (const script of [
    says('this ', 'and', ' that'),
    says('this and that'),
    says(...Array.from('this and that')),
  ]) {
    server.script = script;
    const { choices, usage } = await json(await post(route, { stop_regex }));
    const [choice] = choices as unknown as [Choice];
    expect(choice.text ?? choice.message!.content).toBe('this and ');
    expect(choice).toMatchObject({ finish_reason: 'stop', stop_reason: stop_regex });
    expect(usage!.completion_tokens).toBe('this and '.length);
    const chunks = (await events(await post(route, { stop_regex: ['z', stop_regex], stream: true }))).slice(
      0,
      -1,
    );
    const streamed = chunks.flatMap((chunk) => chunk.choices) as unknown as Choice[];
    expect(streamed.map((each) => each.text ?? each.delta?.content ?? '').join('')).toBe('this and ');
    expect(streamed.at(-1)).toMatchObject({ finish_reason: 'stop', stop_reason: stop_regex });
  }
  expect(server.engine.open).toBe(0);
});

test.each([
  ['predict', 'response'],
  ['generate', 'text'],
])('%s: ends it', async (route, member) => {
  server.script = says('this and that');
  expect(await (await post(route, { stop_regex: 'a.d' })).json()).toMatchObject({ [member]: 'this and' });
});

test('ends reasoning too, and begins anew behind it', async () => {
  await server.stop();
  server = await ScriptedServer.start({ tools: true });
  const { thinkBegin, thinkEnd } = ScriptedServer.markers;
  const steps = [[thinkBegin], byteIds('a'), [thinkEnd], byteIds('b'), byteIds('ab!')];
  server.script = function* () {
    for (const tokens of steps) yield output(tokens);
  };
  const { choices } = await json(await post('chat', { stop_regex: 'ab' }));
  expect(choices[0]).toMatchObject({ message: { content: 'bab', reasoning: 'a' }, stop_reason: 'ab' });
  const inReasoning = await json(await post('chat', { stop_regex: 'a' }));
  expect(inReasoning.choices[0]).toMatchObject({ message: { reasoning: 'a' }, stop_reason: 'a' });
});

test('a pattern that cannot be searched for is refused on every route', async () => {
  for (const route of Object.keys(routes)) {
    const answer = await post(route, { stop_regex: '(?<=a)b' });
    expect([route, answer.status]).toEqual([route, 400]);
    expect(JSON.stringify(await answer.json())).toContain('stop_regex looks around');
  }
});
