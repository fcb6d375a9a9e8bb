// Load on a server by the method of `vllm bench serve` with --max-concurrency and random token ids: so many streams at once, the
// next begins when one ends. Its definitions: output tokens a second of the whole run; of each request the time to its first
// token, and the time per output token after the first.

import { promptOf } from '../../gpu/served-model.js';
import { StreamClient } from '../../load/stream-client.js';
import { median } from '../../median.js';

export interface StreamLoad {
  /** Streams at once. */
  readonly streams: number;
  readonly requests: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

export const loadMeasures = ['output tok/s', 'TTFT p50 ms', 'TPOT p50 ms'] as const;
export type LoadFigures = Readonly<Record<(typeof loadMeasures)[number], number>>;

interface Answer {
  readonly ttftMs: number;
  readonly tpotMs: number;
  readonly tokens: number;
}

/** Of all tokens that both sides have. */
const vocabulary = 151_000;
/** No prompt is sent twice: what a server keeps of prompts helps nobody. */
let prompts = 0;

/** @throws when an answer is not whole */
export async function measureLoad(port: number, load: StreamLoad): Promise<LoadFigures> {
  const answers: Answer[] = [];
  let left = load.requests;
  const begin = performance.now();
  const streams = Array.from({ length: load.streams }, async () => {
    while (left-- > 0) answers.push(await ask(port, load));
  });
  await Promise.all(streams);
  const seconds = (performance.now() - begin) / 1000;
  return {
    'output tok/s': answers.reduce((sum, { tokens }) => sum + tokens, 0) / seconds,
    'TTFT p50 ms': median(answers.map(({ ttftMs }) => ttftMs)),
    'TPOT p50 ms': median(answers.map(({ tpotMs }) => tpotMs)),
  };
}

async function ask(port: number, { promptTokens, outputTokens }: StreamLoad): Promise<Answer> {
  const begin = performance.now();
  let [firstAt, lastAt, tokens, rest] = [NaN, NaN, 0, ''];
  const client = new StreamClient({
    port,
    path: '/v1/completions',
    headers: { 'content-type': 'application/json' },
    body: {
      ...{ model: 'bench', prompt: promptOf(promptTokens, vocabulary, (prompts += 1)) },
      ...{ max_tokens: outputTokens, temperature: 0, ignore_eos: true },
      ...{ stream: true, stream_options: { include_usage: true } },
    },
    onEvent: (data) => {
      const event = JSON.parse(data) as Event;
      rest = data;
      tokens = event.usage?.completion_tokens ?? tokens;
      if ((event.choices ?? []).length === 0) return;
      lastAt = performance.now();
      if (Number.isNaN(firstAt)) firstAt = lastAt;
    },
  });
  await client.ended;
  if (client.status !== 200 || !client.isComplete || tokens !== outputTokens) {
    throw new Error(`an answer of ${tokens} tokens, status ${client.status}; its last event: ${rest}`);
  }
  return { ttftMs: firstAt - begin, tpotMs: (lastAt - firstAt) / (tokens - 1), tokens };
}

interface Event {
  readonly choices?: readonly object[];
  readonly usage?: { readonly completion_tokens: number } | null;
}
