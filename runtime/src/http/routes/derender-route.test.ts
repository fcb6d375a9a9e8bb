// vLLM's derender routes: what was generated elsewhere becomes the answer that the route itself makes of the same tokens.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { speaksAndCalls, scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import type { Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
});
afterEach(() => server.stop());

const messages = [{ role: 'user', content: 'x' }];
const tools = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));
const { thinkBegin, thinkEnd } = ScriptedServer.markers;

interface Choice {
  readonly index: number;
  readonly token_ids: number[];
  readonly prompt_token_ids?: number[];
  readonly finish_reason: string;
}
interface Answer {
  readonly choices: readonly Choice[];
  readonly prompt_token_ids?: number[];
  readonly usage: { readonly prompt_tokens: number };
}

/** Without what differs from answer to answer. */
const comparable = (answer: object): unknown => {
  const text = JSON.stringify(answer).replaceAll(/"(created)":\d+/g, '"$1":0');
  return JSON.parse(
    text.replaceAll(/"(id)":"[^"]*"/g, '"$1":""').replaceAll(/"cached_tokens":\d+/g, '"cached_tokens":0'),
  );
};

const engineFinish = ({ finish_reason: finish }: Choice): string =>
  finish === 'tool_calls' ? 'stop' : finish;

async function ask(path: string, body: object): Promise<{ status: number; answer: Answer }> {
  const response = await server.post(path, body);
  return { status: response.status, answer: (await response.json()) as Answer };
}

const scripts: Readonly<Record<string, Script>> = {
  'a text': scriptOf('Hi', ' é', '!'),
  'thoughts and calls': thinksAndCalls,
  'calls without thoughts': scriptOf(...speaksAndCalls),
  'a thought that does not end': scriptOf(thinkBegin, 'So?'),
  'a second end of thoughts': scriptOf(thinkBegin, 'So?', thinkEnd, 'Hi', thinkEnd, '!'),
};

describe.each(Object.entries(scripts))('of %s the answer is the one of the chat', (_, script) => {
  test.each([
    {},
    { tools },
    { tools, chat_template_kwargs: { enable_thinking: false } },
    { include_reasoning: false },
    { stop: 'look' },
    { max_tokens: 9, tools },
    { skip_special_tokens: false },
    { n: 2, tools },
    { logprobs: true, top_logprobs: 1 },
  ])('with %j', async (more) => {
    server.script = script;
    const chat_request = { messages, ...more };
    const { answer } = await ask('/v1/chat/completions', { ...chat_request, return_token_ids: true });
    const generate_response = {
      request_id: 'chatcmpl-7',
      choices: answer.choices.map((choice) => ({
        index: choice.index,
        token_ids: choice.token_ids,
        finish_reason: engineFinish(choice),
      })),
    };
    server.engine.requests.length = 0;
    const derendered = await ask('/v1/chat/completions/derender', {
      generate_response,
      prompt_tokens: answer.usage.prompt_tokens,
      chat_request: { ...chat_request, return_token_ids: true },
    });
    expect([derendered.status, server.engine.requests]).toEqual([200, []]);
    expect(derendered.answer).toMatchObject({ id: 'chatcmpl-7' });
    expect(comparable(derendered.answer)).toEqual(comparable(answer));
  });
});

test.each([
  [{ prompt: ['x', 'hello'] }],
  [{ prompt: 'x', n: 2, stop: 'é' }],
  [{ prompt: [104, 105], max_tokens: 2 }],
])('of the tokens of the completion %j the answer is its own', async (completion_request) => {
  const { answer } = await ask('/v1/completions', { ...completion_request, return_token_ids: true });
  const n = 'n' in completion_request ? completion_request.n : 1;
  const generate_responses = Array.from({ length: answer.choices.length / n }, (_, prompt) => ({
    choices: answer.choices
      .slice(prompt * n, (prompt + 1) * n)
      .map(({ token_ids, finish_reason }, index) => ({ index, token_ids, finish_reason })),
  }));
  const derendered = await ask('/v1/completions/derender', {
    generate_responses,
    prompt_tokens: generate_responses.map((_, index) => (index === 0 ? answer.usage.prompt_tokens : 0)),
    completion_request: { ...completion_request, return_token_ids: true },
  });
  expect(derendered.status).toBe(200);
  expect(comparable(derendered.answer)).toEqual(comparable(answer));
});

const one = (more: object = {}): object => ({ index: 0, token_ids: [72, 105], ...more });
const chatOf = (choice: object, more: object = {}): object => ({
  generate_response: { choices: [choice] },
  chat_request: { messages },
  ...more,
});
const chatPath = '/v1/chat/completions/derender';
const textPath = '/v1/completions/derender';

test('the prompt says whether the answer begins in a thought', async () => {
  const thought = { choices: [{ index: 0, token_ids: [72, thinkEnd, 105, 2] }] };
  const body = { chat_request: { messages }, prompt_tokens: 3 };
  const asked = [
    { ...body, generate_response: thought, prompt_token_ids: [58, thinkBegin] },
    { ...body, generate_response: { ...thought, prompt_token_ids: [58, thinkBegin] } },
    { ...body, generate_response: thought },
  ];
  const answers = await Promise.all(asked.map((each) => ask(chatPath, each)));
  expect(answers.map(({ answer }) => answer)).toMatchObject([
    { choices: [{ message: { reasoning: 'H', content: 'i' } }] },
    { choices: [{ message: { reasoning: 'H', content: 'i' } }] },
    { choices: [{ message: { reasoning: null, content: 'Hi' } }] },
  ]);
});

describe('log probabilities', () => {
  const top_logprobs = [
    { token_id: 105, logprob: -3 },
    { token_id: 72, logprob: -0.5 },
  ];
  const byId = { content: [{ token_id: 72, logprob: -0.5, rank: 1, top_logprobs }] };
  const byName = {
    content: [
      {
        token: 'token_id:72',
        logprob: -0.5,
        bytes: null,
        top_logprobs: [{ token: 'token_id:105', logprob: -3 }],
      },
    ],
  };

  test('of ids, and of texts that name ids, become those of a chat', async () => {
    const { answer } = await ask(chatPath, chatOf(one({ logprobs: byId })));
    expect(answer.choices[0]).toMatchObject({
      logprobs: {
        content: [
          {
            token: 'H',
            bytes: [72],
            logprob: -0.5,
            top_logprobs: [{ token: 'H' }, { token: 'i', bytes: [105] }],
          },
        ],
      },
    });
    const named = await ask(chatPath, chatOf(one({ logprobs: byName })));
    expect(named.answer.choices[0]).toMatchObject({
      logprobs: { content: [{ token: 'H', top_logprobs: [{ token: 'i', logprob: -3 }] }] },
    });
  });

  test('become those of a completion', async () => {
    const { answer } = await ask(textPath, {
      generate_responses: [{ choices: [one({ logprobs: byName })] }],
    });
    expect(answer.choices[0]).toMatchObject({
      logprobs: {
        tokens: ['H'],
        token_logprobs: [-0.5],
        top_logprobs: [{ H: -0.5, i: -3 }],
        text_offset: [0],
      },
    });
  });
});

test('what is of the prompt, and of the transfer of its cache, is passed on', async () => {
  const passed = { prompt_logprobs: [null, { '5': { logprob: -1 } }], kv_transfer_params: { node: 'a' } };
  const body = { ...chatOf(one()), generate_response: { choices: [one()], ...passed } };
  expect((await ask(chatPath, body)).answer).toMatchObject(passed);
  const generate_responses = ['a', 'b'].map((node) => ({
    choices: [one()],
    ...passed,
    kv_transfer_params: { node },
  }));
  const { answer } = await ask(textPath, { generate_responses: generate_responses.slice(0, 1) });
  expect(answer).toMatchObject({
    kv_transfer_params: { node: 'a' },
    choices: [{ prompt_logprobs: passed.prompt_logprobs }],
  });
  expect((await ask(textPath, { generate_responses })).answer).not.toHaveProperty('kv_transfer_params');
});

test('a limit of the engine is none of the model’s ends, and an end that nobody gave a reason for is none', async () => {
  const answers = await Promise.all(
    ['length', 'repetition', null, undefined].map((finish_reason) =>
      ask(chatPath, chatOf(one({ finish_reason }), { chat_request: { messages, tools } })),
    ),
  );
  const ends = answers.map(({ answer }) => answer.choices[0]!.finish_reason);
  expect(ends).toEqual(['length', 'repetition', null, 'stop']);
});

test.each<[path: string, body: object, param: string, message: string]>([
  [chatPath, {}, 'generate_response', 'is required'],
  [chatPath, { generate_response: { choices: [one()] } }, 'chat_request', 'what of the text is reasoning'],
  [chatPath, chatOf(one({ token_ids: [] })), 'generate_response.choices.0.token_ids', 'fewer than 1'],
  [chatPath, chatOf(one({ token_ids: null })), 'generate_response.choices.0.token_ids', 'is required'],
  [
    chatPath,
    chatOf(one({ token_ids: [300] })),
    'generate_response.choices.0.token_ids',
    'vocabulary ends at 299',
  ],
  [chatPath, chatOf(one({ index: 1 })), 'generate_response.choices.0.index', 'must be 0'],
  [chatPath, chatOf(one({ finish_reason: 'tired' })), 'generate_response.choices.0.finish_reason', '"stop"'],
  [
    chatPath,
    chatOf(one({ token_ids: Array.from({ length: 4097 }, () => 72) })),
    'generate_response.choices.0.token_ids',
    'has 4097 tokens, and the context 4096',
  ],
  [
    chatPath,
    chatOf(one({ logprobs: { content: [{ token_id: 5, logprob: 0 }] } })),
    'generate_response.choices.0.logprobs.content.0',
    'is not of the token 72',
  ],
  [
    chatPath,
    { ...chatOf(one()), generate_response: { output_mode: 'text', choices: [one()] } },
    'generate_response.output_mode',
    'send answers of output_mode tokens',
  ],
  [chatPath, chatOf(one(), { prompt_token_ids: [300] }), 'prompt_token_ids', 'vocabulary ends at 299'],
  [chatPath, chatOf(one(), { stream: true }), 'stream', 'the token ids of all chunks'],
  [chatPath, chatOf(one(), { chat_request: { messages, top_p: 2 } }), 'chat_request.top_p', 'must be <= 1'],
  [chatPath, chatOf(one(), { surprise: 1 }), 'surprise', 'is not a known field'],
  [textPath, { generate_responses: [] }, 'generate_responses', 'fewer than 1'],
  [
    textPath,
    { generate_responses: [{ choices: [one()] }], prompt_tokens: [5, 10] },
    'prompt_tokens',
    'has 2 entries, and generate_responses 1',
  ],
  [
    textPath,
    { generate_responses: [{ choices: [one()] }], completion_request: { prompt: 'x', echo: true } },
    'completion_request.echo',
    'what was generated alone',
  ],
])('%s refuses %j', async (path, body, param, message) => {
  const { status, answer } = await ask(path, body);
  expect([status, answer]).toMatchObject([
    400,
    { error: { param, message: expect.stringContaining(message) } },
  ]);
});

test('a model that is not served is not found', async () => {
  expect((await ask(chatPath, chatOf(one(), { model: 'other' }))).status).toBe(404);
  expect((await ask(chatPath, chatOf(one(), { chat_request: { messages, model: 'other' } }))).status).toBe(
    404,
  );
});

test('a model without thoughts and calls needs no request', async () => {
  const plain = await ScriptedServer.start();
  const response = await plain.post(chatPath, {
    generate_response: { choices: [one({ token_ids: [72, 105, 2] })] },
  });
  expect(await response.json()).toMatchObject({
    choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 3, total_tokens: 3 },
  });
  await plain.stop();
});
