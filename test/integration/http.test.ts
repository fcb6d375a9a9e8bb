// One real server and its real engine with the demo model: what clients see, also of an engine that is killed.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { enginePids } from '../process-tree.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { endless, lines, longContext } from './streams.js';

jest.setTimeout(120_000);

const question = { messages: [{ role: 'user', content: 'What is the capital of France?' }] };

/** What of any answer the tests look at. */
interface Answer {
  readonly choices: readonly {
    readonly text: string;
    readonly message: { readonly content: string };
    readonly delta: { readonly content: string };
  }[];
  readonly response: string;
  readonly usage: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number };
  };
}
const json = async (response: Response): Promise<Answer> => (await response.json()) as Answer;

describe('one replica', () => {
  let replica: ReplicaProcess;
  beforeAll(async () => {
    replica = await ReplicaProcess.start({ uri: demoCheckpoint, engine: longContext });
    await replica.ready();
  });
  afterAll(() => replica.stop());

  test('answers a chat, streamed and not, with the same text', async () => {
    const whole = await json(
      await replica.post('/openai/v1/chat/completions', { ...question, temperature: 0 }),
    );
    const { content } = whole.choices[0]!.message;
    expect(content).toContain('Paris');
    const streamed = await lines(
      await replica.post('/v1/chat/completions', { ...question, temperature: 0, stream: true }),
    );
    expect(streamed.at(-1)).toBe('[DONE]');
    const parts = streamed.slice(0, -1).map((line) => (JSON.parse(line) as Answer).choices[0]!.delta.content);
    expect(parts.join('')).toBe(content);
  });

  test('answers :predict as the reference deployment does', async () => {
    const body = await json(
      await replica.post('/v1/models/demo:predict', {
        prompt: question.messages[0]!.content,
        temperature: 0,
      }),
    );
    expect(Object.keys(body)).toEqual(['model_name', 'response', 'prompt_tokens', 'completion_tokens']);
    expect(body.response).toContain('Paris');
  });

  test('gives the same text to the same seed, also alongside other requests', async () => {
    const seeded = { prompt: 'The', max_tokens: 24, temperature: 1.5, seed: 42 };
    const alone = await json(await replica.post('/v1/completions', seeded));
    const others = Array.from({ length: 12 }, (_, seed) =>
      replica.post('/v1/completions', { ...seeded, seed }),
    );
    const beside = await json(await replica.post('/v1/completions', seeded));
    await Promise.all(others);
    expect(beside.choices[0]!.text).toBe(alone.choices[0]!.text);
  });

  test('a system prompt is computed once: the next chat reports what it found, and so do the metrics', async () => {
    const system = { role: 'system', content: 'Answer briefly, and always in whole sentences. '.repeat(12) };
    const ask = async (content: string, salt?: string): Promise<Answer['usage']> => {
      const messages = [system, { role: 'user', content }];
      const body = { messages, max_tokens: 4, ...(salt === undefined ? {} : { cache_salt: salt }) };
      return (await json(await replica.post('/v1/chat/completions', body))).usage;
    };
    const figures = async () => [
      await replica.metric('vllm:prefix_cache_queries_total'),
      await replica.metric('vllm:prefix_cache_hits_total'),
    ];
    const first = await ask('What is the capital of France?');
    expect(first.prompt_tokens).toBeGreaterThan(100);
    expect(first.prompt_tokens_details.cached_tokens).toBe(0);
    const [queries, hits] = await figures();
    const second = await ask('Who wrote Hamlet?');
    const cached = second.prompt_tokens_details.cached_tokens;
    expect(cached).toBeGreaterThanOrEqual(64);
    expect(cached).toBeLessThan(second.prompt_tokens);
    expect(await figures()).toEqual([queries! + second.prompt_tokens, hits! + cached]);
    expect((await ask('Who wrote Hamlet?', 'private')).prompt_tokens_details.cached_tokens).toBe(0);
  });

  test('refuses a prompt that is longer than the context', async () => {
    const response = await replica.post('/v1/completions', { prompt: 'word '.repeat(9000) });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/the prompt has (at least )?\d+ tokens, but the context is 4096/);
  });

  test('200 clients that go away in mid-stream leave nothing running and every block free', async () => {
    const clients = Array.from({ length: 200 }, async () => {
      const controller = new AbortController();
      const response = await replica.post('/v1/completions', endless, controller.signal);
      expect(response.status).toBe(200);
      await response.body!.getReader().read();
      controller.abort();
    });
    await Promise.all(clients);
    await eventually('nothing to run, to wait or to hold a block', async () => {
      const left = [
        (await replica.health()).engine?.inFlight,
        await replica.metric('vllm:num_requests_running'),
        await replica.metric('vllm:num_requests_waiting'),
        await replica.metric('llmservice_kv_blocks_used'),
      ];
      if (left.some((count) => count !== 0)) throw new Error(left.join());
      return true;
    });
    expect(await replica.metric('llmservice_kv_blocks')).toBeGreaterThan(0);
  });

  test('an engine that is killed ends its streams with an error event, and the next request is answered', async () => {
    const response = await replica.post('/v1/completions', endless);
    const reader = response.body!.getReader();
    await reader.read();
    process.kill(enginePids(replica.child.pid!)[0]!, 'SIGKILL');
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += Buffer.from(part.value).toString();
    expect(text).toContain('"code":"EngineFault"');
    expect(text).not.toContain('[DONE]');
    const next = await replica.post('/v1/chat/completions', question);
    expect(next.status).toBe(200);
    expect((await replica.health()).engine?.restarts).toBe(1);
  });

  test('logs one line per request, without its text', () => {
    const log = replica.log.split('\n').filter((line) => line.includes('request finished'));
    expect(log.length).toBeGreaterThan(200);
    expect(JSON.parse(log[0]!)).toMatchObject({
      route: '/openai/v1/chat/completions',
      status: 200,
      finishReasons: ['stop'],
      promptTokens: expect.any(Number),
    });
    expect(replica.log).not.toContain('Paris');
  });
});
