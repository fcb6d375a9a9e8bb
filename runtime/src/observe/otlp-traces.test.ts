// Traces as an endpoint receives them, of requests at a server with the real routes.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { byteIds, output } from '../http/scripted-engine.fixture.js';
import { ScriptedServer } from '../http/scripted-server.fixture.js';
import { makeLogger, type Logger } from '../log/logger.js';
import { Observability } from '../observability.js';
import type { EndedRequest } from './ended-request.js';
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.fixture.js';

let server: ScriptedServer;
let receiver: OtlpReceiver;
let observability: Observability;
const logged: string[] = [];
const before = { ...process.env };

function quietLogger(): Logger {
  const logger = makeLogger('info');
  logger.transports[0]!.silent = true;
  for (const level of ['info', 'error'] as const) {
    logger[level] = ((message: string) => void logged.push(message)) as never;
  }
  return logger;
}

async function observe(env: NodeJS.ProcessEnv): Promise<void> {
  Object.assign(process.env, env);
  observability = new Observability(server.parts.metrics, quietLogger(), process.env, null);
  await observability.open();
}
const observeAll = async (request: EndedRequest): Promise<void> => {
  observability.observers.forEach((observer) => observer(request));
  await sleep(0);
};

/** All spans, once there are so many. */
async function spans(count: number): Promise<ReceivedSpan[]> {
  for (let i = 0; i < 2_500 && receiver.spans.length < count; i++) await sleep(10);
  expect(receiver.spans).toHaveLength(count);
  return receiver.spans;
}

beforeEach(async () => {
  logged.length = 0;
  server = await ScriptedServer.start();
  receiver = await OtlpReceiver.start();
});
afterEach(async () => {
  await observability.close();
  await server.stop();
  await receiver.stop();
  process.env = { ...before };
});

/** SpanKind of the protocol, which counts from 1. */
const serverKind = 2;
const soon = { OTEL_BSP_SCHEDULE_DELAY: '20' };

async function ended(post: () => Promise<Response>): Promise<EndedRequest> {
  const count = server.ended.length;
  await (await post()).text();
  for (let i = 0; i < 2_500 && server.ended.length === count; i++) await sleep(10);
  return server.ended.at(-1)!;
}

describe('with an endpoint', () => {
  test('a request is a span with its attributes, inside of its caller’s, and its phases are inside of it', async () => {
    await observe({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, ...soon });
    server.script = async function* () {
      await sleep(20);
      yield { ...output(byteIds('a')), queueMs: 5 };
      await sleep(30);
      yield { ...output(byteIds('bc'), 'length'), queueMs: null };
    };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const body = { messages: [{ role: 'user', content: 'x' }], max_tokens: 3, stream: true };
    const request = await ended(() => server.post('/v1/chat/completions', body, { traceparent }));
    await observeAll(request);
    const received = await spans(4);
    const root = received.find(({ kind }) => kind === serverKind);
    const phases = received.filter((span) => span !== root);
    expect(root).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentId: 'b7ad6b7169203331',
      name: 'chat tiny',
      status: 0,
    });
    expect(root!.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'llmservice',
      'gen_ai.request.model': 'tiny',
      'gen_ai.response.model': 'tiny',
      'gen_ai.response.id': request.id,
      'gen_ai.request.stream': true,
      'gen_ai.request.max_tokens': 3,
      'gen_ai.response.finish_reasons': ['length'],
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.usage.input_tokens': request.generations[0]!.promptTokens,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.cache_read.input_tokens': 3,
      'gen_ai.usage.reasoning.output_tokens': 0,
      'llmservice.usage.accepted_draft_tokens': 0,
    });
    expect(root!.resource).toMatchObject({ 'service.name': 'llmservice' });
    const [queue, prefill, decode] = ['queue', 'prefill', 'decode'].map((name) =>
      phases.find((span) => span.name === name)!,
    );
    for (const span of phases) expect(span).toMatchObject({ traceId: root!.traceId, parentId: root!.spanId });
    expect(queue!.endMs - queue!.startMs).toBeCloseTo(5, 1);
    expect(prefill!.startMs).toBeCloseTo(queue!.endMs, 1);
    expect(prefill!.endMs - prefill!.startMs).toBeGreaterThan(10);
    expect(decode!.startMs).toBeCloseTo(prefill!.endMs, 1);
    expect(decode!.endMs - decode!.startMs).toBeGreaterThan(25);
    expect(root!.startMs).toBeLessThanOrEqual(queue!.startMs + 0.01);
    expect(root!.endMs).toBeGreaterThanOrEqual(decode!.endMs - 0.01);
    expect(Math.abs(root!.endMs - Date.now())).toBeLessThan(60_000);
  });

  test.each([
    ['gen_ai/dup', true],
    ['http, gen_ai/dup', true],
    ['gen_ai_latest_experimental', false],
    ['', false],
  ])('with the opt-in %j the provider is under its old name too: %s', async (optIn, isThere) => {
    await observe({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_SEMCONV_STABILITY_OPT_IN: optIn,
      ...soon,
    });
    await observeAll(await ended(() => server.post('/v1/completions', { prompt: 'x' })));
    for (let i = 0; i < 2_500 && receiver.spans.length === 0; i++) await sleep(10);
    const root = receiver.spans.find(({ kind }) => kind === serverKind);
    expect(root?.attributes['gen_ai.provider.name']).toBe('llmservice');
    expect(root?.attributes['gen_ai.system']).toBe(isThere ? 'llmservice' : undefined);
  });

  test.each<[string, string, object, object]>([
    [
      'a refusal says why, and is no failure of the server',
      '/v1/completions',
      { prompt: 1.5 },
      {
        name: 'text_completion',
        status: 0,
        attributes: { 'error.type': 'invalid_request', 'http.response.status_code': 400 },
      },
    ],
    [
      'of several answers the tokens are summed',
      '/v1/completions',
      { prompt: 'x', n: 2 },
      {
        name: 'text_completion tiny',
        attributes: { 'gen_ai.request.choice.count': 2, 'gen_ai.usage.output_tokens': 14 },
      },
    ],
    [
      'several prompts are no choices',
      '/v1/completions',
      { prompt: ['x', 'y', 'z'] },
      { attributes: expect.not.objectContaining({ 'gen_ai.request.choice.count': expect.anything() }) },
    ],
    ['a prediction is a chat', '/v1/models/tiny:predict', { prompt: 'x' }, { name: 'chat tiny' }],
  ])('%s', async (_, path, body, expected) => {
    await observe({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.endpoint}/v1/traces`, ...soon });
    await observeAll(await ended(() => server.post(path, body)));
    for (let i = 0; i < 2_500 && receiver.spans.length === 0; i++) await sleep(10);
    expect(receiver.spans.find(({ kind }) => kind === serverKind)).toMatchObject({
      ...expected,
      parentId: '',
    });
  });

  test.each([
    ['before the first byte', false],
    ['in mid-stream', true],
  ])('an engine that fails %s is a failure', async (_, streams) => {
    await observe({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, ...soon });
    server.parts.logger.transports[0]!.silent = true;
    server.script = function* () {
      if (streams) yield output(byteIds('a'));
      throw new Error('the inside');
    };
    const body = { prompt: 'x', stream: streams };
    await observeAll(await ended(() => server.post('/v1/completions', body)));
    for (let i = 0; i < 2_500 && receiver.spans.length === 0; i++) await sleep(10);
    expect(receiver.spans.find(({ kind }) => kind === serverKind)).toMatchObject({
      status: 2,
      attributes: { 'error.type': 'internal_error', 'http.response.status_code': streams ? 200 : 500 },
    });
  });

  test('a client that goes away unanswered is a failure with that reason', async () => {
    await observe({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, ...soon });
    server.script = async function* (_request, signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield* [];
    };
    const leaving = new AbortController();
    const init = { method: 'POST', body: '{"prompt":"x"}', signal: leaving.signal };
    const asked = fetch(`${server.url}/v1/completions`, init).catch(() => undefined);
    while (server.engine.open === 0) await sleep(5);
    leaving.abort();
    await asked;
    while (server.ended.length === 0) await sleep(5);
    await observeAll(server.ended[0]!);
    expect((await spans(1))[0]).toMatchObject({ status: 2, attributes: { 'error.type': 'request_aborted' } });
  });

  test.each([['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', 'a caller that is not sampled']])(
    '%s: %s gets no spans',
    async (traceparent) => {
      await observe({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, ...soon });
      await observeAll(await ended(() => server.post('/v1/completions', { prompt: 'x' }, { traceparent })));
      await observeAll(
        await ended(() => server.post('/v1/completions', { prompt: 'x' }, { traceparent: 'nonsense' })),
      );
      expect(new Set((await spans(4)).map(({ traceId }) => traceId)).size).toBe(1);
      expect(receiver.spans[0]!.traceId).not.toBe(traceparent.slice(3, 35));
    },
  );

  test('what waits at the end is sent before it', async () => {
    await observe({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=team',
    });
    await observeAll(await ended(() => server.post('/v1/completions', { prompt: 'x' })));
    await observability.close();
    expect((await spans(4))[0]!.resource).toMatchObject({ 'service.namespace': 'team' });
  });
});

describe('an endpoint that', () => {
  test.each<[string, () => void]>([
    ['answers with an error', () => (receiver.instead = (_, response) => void response.writeHead(400).end())],
    ['never answers', () => (receiver.instead = () => undefined)],
  ])(
    '%s is logged once, delays nothing, and keeps no more spans than its queue has room for',
    async (_, break_) => {
      break_();
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: '100' };
      await observe({
        ...env,
        OTEL_BSP_SCHEDULE_DELAY: '10',
        OTEL_BSP_MAX_QUEUE_SIZE: '16',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '8',
      });
      const request = await ended(() => server.post('/v1/completions', { prompt: 'x' }));
      // 4,000 spans, of which nearly none is kept, without a turn of the event loop.
      for (let i = 0; i < 1000; i++) observability.observers.at(-1)!(request);
      expect(receiver.requests).toBe(0);
      for (let i = 0; i < 2_500 && receiver.requests < 2; i++) await sleep(10);
      await sleep(300);
      expect(logged.filter((line) => line.includes('traces'))).toEqual([
        'traces cannot be sent, and are lost until they can',
      ]);
      receiver.instead = null;
      // Again and again: a busy machine may not send in the time that there is.
      let more = 0;
      for (let i = 0; i < 2_500 && logged.length < 2; i++) {
        if (i % 30 === 0) observability.observers.at(-1)!(request);
        more += i % 30 === 0 ? 4 : 0;
        await sleep(10);
      }
      expect(receiver.spans.length).toBeLessThanOrEqual(16 + 8 + more);
      // A machine that stalls for as long as sending may take loses some again.
      expect(logged.filter((line) => line.includes('traces')).slice(0, 2)).toEqual([
        'traces cannot be sent, and are lost until they can',
        'traces are sent again',
      ]);
    },
  );
});

test.each<[string, NodeJS.ProcessEnv]>([
  ['no endpoint', {}],
  ['an empty one', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ['the SDK switched off', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }],
])('with %s nothing is made', async (_, env) => {
  await observe(env);
  expect(observability.observers).toHaveLength(3);
});
