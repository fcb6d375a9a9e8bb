// The OpenAI Node SDK against a service: prints what each call gave. usage: tsx openai-smoke.ts BASE_URL HOST

import OpenAI from 'openai';
import { fetchWithHost } from './fetch-with-host.js';

const [baseURL = '', host = ''] = process.argv.slice(2);

const client = new OpenAI({ baseURL, apiKey: 'none', fetch: fetchWithHost(host), maxRetries: 0 });
const chat = {
  model: 'demo',
  messages: [{ role: 'user' as const, content: 'What is the capital of France?' }],
  max_tokens: 48,
  temperature: 0,
};
const statusOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 200,
    (error: unknown) => (error as { status: unknown }).status,
  );

let streamed = '';
for await (const chunk of await client.chat.completions.create({ ...chat, stream: true }))
  streamed += chunk.choices[0]?.delta.content ?? '';
const asked = { model: 'demo', input: chat.messages, max_output_tokens: 48, temperature: 0 };
const responseEvents: string[] = [];
const responseStream = client.responses.stream(asked).on('event', (event) => responseEvents.push(event.type));
const streamedResponse = await responseStream.finalResponse();
const models = await client.models.list();
const { response } = await client.chat.completions.create(chat).withResponse();
const { data: embeddings } = await client.embeddings.create({ model: 'demo', input: ['a', 'b'] });
console.log(
  JSON.stringify({
    chat: (await client.chat.completions.create(chat)).choices[0]?.message.content,
    streamed,
    response: (await client.responses.create(asked)).output_text,
    streamedResponse: [responseEvents[0], responseEvents.at(-1), streamedResponse.output_text],
    helper: await client.chat.completions.stream(chat).finalContent(),
    raw: [response.status, response.headers.has('x-request-id')],
    embeddings: embeddings.map(({ index }) => index),
    completion: (await client.completions.create({ model: 'demo', prompt: 'The capital of', max_tokens: 4 }))
      .choices[0]?.text,
    models: models.data.map(({ id }) => id),
    wrongModel: await statusOf(client.chat.completions.create({ ...chat, model: 'absent' })),
    wrongParameter: await statusOf(client.chat.completions.create({ ...chat, temperature: -1 })),
  }),
);
