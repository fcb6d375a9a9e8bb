// Log probabilities of the text of OpenAI's Responses: of its tokens alone, on a stream and in the whole.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { thinksAndCalls } from '../call-script.fixture.js';
import type { Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, responsesClient, tools } from './responses.fixture.js';

type Content = OpenAI.Responses.ResponseOutputText;

const [h] = Buffer.from('h');

/** Each token with a log probability, and "h" as another that it might have been. */
const scored: Script = async function* (request, signal) {
  const { topLogprobs } = request.sampling;
  for await (const each of thinksAndCalls(request, signal))
    yield {
      ...each,
      logprobs:
        topLogprobs === null
          ? null
          : each.tokens.map((token) => ({
              logprob: -1,
              top: [
                { token, logprob: -1 },
                { token: h!, logprob: -2 },
              ].slice(0, topLogprobs),
            })),
    };
};

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = responsesClient(server);
  server.script = scored;
});
afterEach(() => server.stop());

const include: ['message.output_text.logprobs'] = ['message.output_text.logprobs'];
const textOf = ({ output }: OpenAI.Responses.Response): Content => {
  const message = output.find(({ type }) => type === 'message') as OpenAI.Responses.ResponseOutputMessage;
  return message.content[0] as Content;
};
const spelled = (tokens: readonly { token: string }[] | undefined): string =>
  (tokens ?? []).map(({ token }) => token).join('');

test('are those of the text, and of neither reasoning nor calls', async () => {
  const asked = { ...body, tools, include, top_logprobs: 2 };
  const whole = await client.responses.create(asked);
  const { text, logprobs } = textOf(whole);
  expect([text, spelled(logprobs)]).toEqual(['I look.', 'I look.\n']);
  expect(logprobs![0]).toEqual({
    token: 'I',
    bytes: [73],
    logprob: -1,
    top_logprobs: [
      { token: 'I', bytes: [73], logprob: -1 },
      { token: 'h', bytes: [104], logprob: -2 },
    ],
  });
  expect(whole.top_logprobs).toBe(2);
});

test('come on a stream with the text, and again with its end', async () => {
  const asked = { ...body, tools, include, stream: true } as const;
  const [deltas, done, parts]: [string[], string[], string[]] = [[], [], []];
  for await (const event of await client.responses.create(asked)) {
    if (event.type === 'response.output_text.delta') deltas.push(spelled(event.logprobs));
    if (event.type === 'response.output_text.done') done.push(spelled(event.logprobs));
    if (event.type === 'response.content_part.done' && event.part.type === 'output_text')
      parts.push(spelled(event.part.logprobs));
    if (event.type === 'response.completed') parts.push(spelled(textOf(event.response).logprobs));
  }
  expect(deltas.join('')).toBe('I look.\n');
  expect([done, parts]).toEqual([['I look.\n'], ['I look.\n', 'I look.\n']]);
});

test('are not there where nobody asks', async () => {
  expect(textOf(await client.responses.create({ ...body, tools })).logprobs).toEqual([]);
  expect(server.engine.requests[0]!.sampling.topLogprobs).toBeNull();
});
