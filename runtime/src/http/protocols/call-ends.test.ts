// Answers with calls that a limit ended, that quote markers, or that are written otherwise than the template writes them:
// the same in every protocol, streamed or not.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { scriptOf } from '../call-script.fixture.js';
import { byteIds, output, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body as messagesBody, tools as messagesTools } from './messages.fixture.js';
import { body as responsesBody, tools as responsesTools } from './responses.fixture.js';
import { protocols, type Choice, type Said } from './whole-answer.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
});
afterEach(() => server.stop());

const { thinkBegin, thinkEnd, begin, end } = ScriptedServer.markers;
const head = '{"name": "time", "arguments": {"city": "Be';
const bern = 'time {"city":"Bern"}';
const all = Object.keys(protocols) as (keyof typeof protocols)[];

type Steps = readonly (string | number)[];

const cutAfter = (...steps: Steps): Script =>
  function* () {
    for (const step of steps) yield output(typeof step === 'string' ? byteIds(step) : [step]);
    yield output([], 'length');
  };

/** What each protocol calls how an answer ended. */
const words = {
  byModel: { chat: 'stop', responses: 'completed', messages: 'end_turn' },
  withCalls: { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' },
  byLimit: { chat: 'length', responses: 'incomplete', messages: 'max_tokens' },
} as const;

interface Case {
  readonly script: Script;
  readonly choice?: Choice;
  readonly text?: string;
  readonly calls?: readonly string[];
  readonly ended: keyof typeof words;
}

const cases: Readonly<Record<string, Case>> = {
  'a budget ends the thought within a call, and nothing follows': {
    script: scriptOf(thinkBegin, 'Hm.', begin, head, thinkEnd),
    ended: 'byModel',
  },
  'a budget ends the thought within a call, and the model continues it': {
    script: scriptOf(thinkBegin, 'Hm.', begin, head, thinkEnd, 'rn"}}\n', end),
    calls: [bern],
    ended: 'withCalls',
  },
  'a budget ends the thought within a call, and the model answers': {
    script: scriptOf(thinkBegin, begin, head, thinkEnd, '\n\nIt ', 'is 3.'),
    text: 'It is 3.',
    ended: 'byModel',
  },
  'a budget ends the thought within a call, and max_tokens what follows': {
    script: cutAfter(thinkBegin, begin, head, thinkEnd, 'rn'),
    ended: 'byLimit',
  },
  'max_tokens ends the thought within a call': {
    script: cutAfter(thinkBegin, begin, head),
    ended: 'byLimit',
  },
  'max_tokens ends a call': {
    script: cutAfter(begin, head),
    calls: ['time {"city": "Be'],
    ended: 'byLimit',
  },
  'max_tokens ends a call that is required before its name': {
    script: cutAfter(begin, '\n{"na'),
    choice: 'required',
    ended: 'byLimit',
  },
  'a call quotes an end marker': {
    script: scriptOf(begin, '{"name": "time", "arguments": {"city": "see ', end, ' there"}}', end, '\nSo.'),
    text: 'So.',
    calls: ['time {"city":"see </tool_call> there"}'],
    ended: 'withCalls',
  },
  'a block has a list of calls': {
    script: scriptOf(begin, `[${head}rn"}}, ${head}rn"}}]`, end),
    calls: [bern, bern],
    ended: 'withCalls',
  },
  'a thought continues behind its end and ends once more': {
    script: scriptOf(thinkBegin, 'Hm', thinkEnd, ' so.\n', thinkEnd, '\n\n3'),
    text: ' so.\n\n\n3',
    ended: 'byModel',
  },
  'the model calls though no tool may be called, which is text as in vLLM': {
    script: scriptOf(begin, `${head}rn"}}`, end),
    choice: 'none',
    text: `<tool_call>${head}rn"}}</tool_call>`,
    ended: 'byModel',
  },
};

describe.each(all)('in %s', (protocol) => {
  test.each(
    Object.entries(cases).flatMap(([name, each]) =>
      [true, false].map((stream) => [name, stream, each] as const),
    ),
  )('%s, streamed: %s', async (_name, stream, { script, choice = 'auto', text = '', calls = [], ended }) => {
    server.script = script;
    const said: Said = { text, calls, ended: words[ended][protocol] };
    expect(await protocols[protocol](server, stream, choice)).toEqual(said);
  });
});

describe.each([true, false])('a stop string of the client, in Responses, streamed: %s', (stream) => {
  async function answer(...steps: Steps): Promise<unknown> {
    server.script = scriptOf(...steps);
    const asked = { ...responsesBody, tools: responsesTools, stop: 'STOP', stream };
    const text = await (await server.post('/v1/responses', asked)).text();
    if (!stream) return JSON.parse(text);
    const [, last = ''] = /^event: response\.(?:in)?complete.*\ndata: (.*)$/m.exec(text) ?? [];
    return (JSON.parse(last) as { readonly response: unknown }).response;
  }

  test('leaves no call to run where it cuts one', async () => {
    expect(await answer(begin, head, 'STOP"}}', end)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'function_call', arguments: '{"city": "Be', status: 'incomplete' }],
    });
  });

  test('ends an answer as the model does behind a call, and in text', async () => {
    const whole = { status: 'completed', incomplete_details: null, output: [{ status: 'completed' }] };
    expect(await answer(begin, `${head}rn"}}`, end, 'STOP')).toMatchObject(whole);
    expect(await answer('It is 3. STOP')).toMatchObject(whole);
  });
});

test('in :predict, a thought continues behind its end and ends once more', async () => {
  server.script = scriptOf(thinkBegin, 'Hm', thinkEnd, ' so.\n', thinkEnd, '\n\n3');
  const asked = { messages: [{ role: 'user', content: 'x' }], reasoning: true };
  const response = await server.post('/v1/models/tiny:predict', asked);
  expect(await response.json()).toMatchObject({ response: ' so.\n\n\n3', reasoning: 'Hm' });
});

describe('a call that the loss of the engine ends', () => {
  const chatTools = responsesTools.map(({ name, parameters }) => ({
    type: 'function',
    function: { name, parameters },
  }));
  const chat = { messages: [{ role: 'user', content: 'x' }], tools: chatTools };
  const lost: Script = function* () {
    yield output([begin]);
    yield output(byteIds(head));
    throw new FailureError('EngineFault', 'the engine process was lost');
  };

  test.each([
    ['/v1/chat/completions', chat, '"error"', /"finish_reason":"|\[DONE\]/],
    [
      '/v1/responses',
      { ...responsesBody, tools: responsesTools },
      '"status":"incomplete"',
      /"completed"|_call_arguments.done/,
    ],
    [
      '/v1/messages',
      { ...messagesBody, tools: messagesTools },
      'event: error',
      /"tool_use"}|message_stop|block_stop/,
    ],
  ])(
    'on a stream of %s is reported as an error, and in no other way',
    async (path, body, reported, absent) => {
      server.script = lost;
      const text = await (await server.post(path, { ...body, stream: true })).text();
      expect(text).toContain(reported);
      expect(text).not.toMatch(absent);
    },
  );

  test.each([
    ['/v1/chat/completions', chat],
    ['/v1/responses', { ...responsesBody, tools: responsesTools }],
    ['/v1/messages', { ...messagesBody, tools: messagesTools }],
  ])('is an error of %s', async (path, body) => {
    server.script = lost;
    expect((await server.post(path, body)).status).toBe(503);
  });
});
