// thinking_token_budget: what of it the engine gets.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { json } from '../answers.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
});
afterEach(() => server.stop());

const { thinkBegin, thinkEnd } = ScriptedServer.markers;
/** Of the fixture's tokenizer: a tab, two line breaks and a space. */
const blanks = Int32Array.of(9, 10, 13, 32);
const opened = { messages: [{ role: 'user', content: 'x<think>' }] };

test.each([
  ['from the token that begins it', { thinking_token_budget: 5 }, { tokens: 5, begin: thinkBegin }],
  ['from the prompt that began it', { ...opened, thinking_token_budget: 5 }, { tokens: 5, begin: null }],
  ['in OpenRouter’s words', { reasoning: { max_tokens: 5 } }, { tokens: 5, begin: thinkBegin }],
  [
    'in Anthropic’s words',
    { thinking: { type: 'enabled', budget_tokens: 5 } },
    { tokens: 5, begin: thinkBegin },
  ],
  ['also none at all', { thinking_token_budget: 0 }, { tokens: 0, begin: thinkBegin }],
])('reasoning is bounded, counted %s', async (_, body, expected) => {
  await server.chat(body);
  expect(server.engine.requests[0]!.rules!.reasoning).toEqual({ ...expected, end: thinkEnd, blanks });
});

test('it goes with structured output', async () => {
  await server.chat({ ...opened, thinking_token_budget: 5, response_format: { type: 'json_object' } });
  expect(server.engine.requests[0]).toMatchObject({
    rules: { reasoning: { tokens: 5 } },
    grammar: { after: { begin: null, end: thinkEnd } },
  });
});

const ending = { add_generation_prompt: false, continue_final_message: true };
const continued = (content: string, user = 'x'): object => ({
  ...ending,
  messages: [
    { role: 'user', content: user },
    { role: 'assistant', content },
  ],
});
const long = 'a thought of many more tokens than a template writes';

test('a thought that is continued is reasoning however long it is already', async () => {
  const answer = await json(
    await server.chat({
      ...continued(`<think>${long}`),
      thinking_token_budget: 5,
      guided_choice: ['yes'],
    }),
  );
  expect(answer.choices[0]).toMatchObject({ message: { content: '', reasoning: 'Hi é!' } });
  expect(server.engine.requests[0]).toMatchObject({
    rules: { reasoning: { tokens: 5, begin: null, end: thinkEnd } },
    grammar: { after: { begin: null, end: thinkEnd } },
  });
});

test('a continued message that has ended its thought reasons no more', async () => {
  const answer = await json(
    await server.chat({
      ...continued(`<think>why</think>${long}`),
      thinking_token_budget: 5,
      guided_choice: ['yes'],
    }),
  );
  expect(answer.choices[0]).toMatchObject({ message: { content: 'Hi é!', reasoning: null } });
  expect(server.engine.requests[0]).toMatchObject({ rules: null, grammar: { after: null } });
});

test('what a user wrote begins no thought in a message that is continued', async () => {
  const answer = await json(await server.chat(continued(long, `x<think>${long}`)));
  expect(answer.choices[0]).toMatchObject({ message: { content: 'Hi é!', reasoning: null } });
});

test.each([{}, { thinking_token_budget: -1 }, { thinking_token_budget: null }])(
  '%j bounds nothing',
  async (body) => {
    await server.chat(body);
    expect(server.engine.requests[0]!.rules).toBeNull();
  },
);

test.each([
  ['/v1/chat/completions', { messages: opened.messages, thinking_token_budget: -2 }],
  ['/v1/completions', { prompt: 'x', thinking_token_budget: 5 }],
])('%s refuses %j', async (path, body) => {
  const answer = await server.post(path, body);
  expect(answer.status).toBe(400);
  expect((await json(answer)).error).toMatchObject({ param: 'thinking_token_budget' });
});
