import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { measureLoad } from './stream-load.js';

let server: Server | null = null;
afterEach(() => void server?.close());

/** Streams that many tokens to whoever asks; gives what was asked, and the most requests at once. */
async function serve(tokens: number): Promise<{ port: number; prompts: number[][]; most: () => number }> {
  const prompts: number[][] = [];
  let [now, most] = [0, 0];
  server = createServer((request, response) => {
    most = Math.max(most, (now += 1));
    request.setEncoding('utf8').on('data', (body: string) => {
      prompts.push((JSON.parse(body) as { prompt: number[] }).prompt);
      const events = Array.from({ length: tokens }, () => ({ choices: [{ text: 'x' }] }));
      const usage = { choices: [], usage: { completion_tokens: tokens } };
      for (const event of [...events, usage]) response.write(`data: ${JSON.stringify(event)}\n\n`);
      // Before the client can have the end, and ask for more.
      now -= 1;
      response.end('data: [DONE]\n\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, prompts, most: () => most };
}

test('keeps so many streams open until all requests are answered, each with a prompt of its own', async () => {
  const { port, prompts, most } = await serve(4);
  const figures = await measureLoad(port, { streams: 2, requests: 5, promptTokens: 3, outputTokens: 4 });
  expect(figures['output tok/s']).toBeGreaterThan(0);
  expect(figures['TTFT p50 ms']).toBeGreaterThan(0);
  expect(figures['TPOT p50 ms']).toBeGreaterThanOrEqual(0);
  expect(prompts.map((prompt) => prompt.length)).toEqual([3, 3, 3, 3, 3]);
  expect(new Set(prompts.map(String)).size).toBe(5);
  expect(most()).toBeLessThanOrEqual(2);
});

test('takes no answer of fewer tokens', async () => {
  const { port } = await serve(3);
  const load = { streams: 1, requests: 1, promptTokens: 3, outputTokens: 4 };
  await expect(measureLoad(port, load)).rejects.toThrow('an answer of 3 tokens');
});
