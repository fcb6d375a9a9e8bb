// Do prompts of 100,000 tokens hold up other streams? While they are posted one after the other, the gaps between the
// chunks of a stream and the delay of the server's event loop. Texts are templated and tokenized whole, and their last eight
// tokens run; other prompts are refused. So no prefill stands in the stream's way: what is left is the server's work.
// A server that is often ready without a core measures the machine's other work.
// usage: tsx test/bench/long-prompt.ts [ROUNDS]

import { LoadReplica } from '../load/load-replica.js';
import { quantileBound } from '../load/server-watch.js';
import { StreamClient } from '../load/stream-client.js';

const [rounds = 10] = process.argv.slice(2).map(Number);
const barMs = 20;
const tokens = 100_000;
const sentence = 'The capital of France is Paris and the river there is called the Seine. ';

const replica = await LoadReplica.start({ maxNumSeqs: 4, maxWaiting: 16, threads: 1 });
const post = (path: string, body: object): Promise<Response> =>
  fetch(replica.url + path, { method: 'POST', body: JSON.stringify(body) });

/** At least so many tokens. */
async function longText(): Promise<string> {
  const { count } = (await (await post('/tokenize', { prompt: sentence })).json()) as {
    readonly count: number;
  };
  return sentence.repeat(Math.ceil(tokens / (count - 1)));
}

/** Largest and median gap between chunks of a stream that runs while `act` does, in milliseconds. */
async function gapsDuring(
  act: () => Promise<void>,
): Promise<{ readonly largest: number; readonly median: number }> {
  const gaps: number[] = [];
  let last = NaN;
  const over = new AbortController();
  const watch = (async (): Promise<void> => {
    while (!over.signal.aborted) {
      last = NaN;
      const body = { prompt: 'The', max_tokens: 900, ignore_eos: true, stream: true };
      const onEvent = (): void => {
        const at = performance.now();
        if (!Number.isNaN(last)) gaps.push(at - last);
        last = at;
      };
      const client = new StreamClient({ port: replica.port, path: '/v1/completions', body, onEvent });
      const leave = (): void => client.destroy();
      over.signal.addEventListener('abort', leave);
      await client.ended;
      over.signal.removeEventListener('abort', leave);
    }
  })();
  await act();
  over.abort();
  await watch;
  const sorted = gaps.toSorted((a, b) => a - b);
  return { largest: sorted.at(-1) ?? NaN, median: sorted[Math.floor(sorted.length / 2)] ?? NaN };
}

try {
  const text = await longText();
  const messages = Array.from({ length: 100 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: text.slice(0, text.length / 100),
  }));
  const cut = { truncate_prompt_tokens: 8, max_tokens: 1 };
  const kinds = [
    { name: 'nothing', path: null, body: {} },
    { name: 'completion of text', path: '/v1/completions', body: { prompt: text, ...cut } },
    { name: 'completion of text, refused', path: '/v1/completions', body: { prompt: text } },
    {
      name: 'completion of ids',
      path: '/v1/completions',
      body: { prompt: Array.from({ length: tokens }, (_, i) => i % 2000) },
    },
    {
      name: 'chat of one message',
      path: '/v1/chat/completions',
      body: { messages: [{ role: 'user', content: text }], ...cut },
    },
    { name: 'chat of 100 messages', path: '/v1/chat/completions', body: { messages, ...cut } },
    {
      name: 'ids of which one is none',
      path: '/v1/completions',
      body: { prompt: [...Array.from({ length: tokens }, (_, i) => i % 2000), 'x'] },
    },
  ];
  console.log(
    '| posted | times | median gap ms | largest gap ms | event-loop delay p99 ms | largest ms | ready without a core |',
  );
  console.log('|---|---|---|---|---|---|---|');
  const largest: number[] = [];
  for (const { name, path, body } of kinds) {
    const before = await replica.watch.eventLoopDelay();
    const threadBefore = replica.watch.mainThread;
    const gaps = await gapsDuring(async () => {
      for (let i = 0; i < rounds; i += 1) {
        if (path === null) await new Promise((resolve) => setTimeout(resolve, 500));
        else {
          const answer = await post(path, body);
          if (answer.status !== ('max_tokens' in body ? 200 : 400))
            throw new Error(`${name}: ${String(answer.status)} ${await answer.text()}`);
          await answer.arrayBuffer();
        }
      }
    });
    const after = await replica.watch.eventLoopDelay();
    const thread = replica.watch.mainThread;
    const waited = thread.waitedMs - threadBefore.waitedMs;
    const share = waited / (waited + thread.ranMs - threadBefore.ranMs);
    const bound = (share: number): string => `≤ ${String(quantileBound(before, after, share) * 1000)}`;
    if (path !== null) largest.push(quantileBound(before, after, 1) * 1000);
    const cells = [
      name,
      rounds,
      gaps.median.toFixed(1),
      gaps.largest.toFixed(1),
      bound(0.99),
      bound(1),
      `${(share * 100).toFixed(0)} %`,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const isWell = largest.every((ms) => ms <= barMs);
  console.log(`${isWell ? 'never' : 'NOT never'} more than ${String(barMs)} ms on the event loop`);
  process.exitCode = isWell ? 0 : 1;
} finally {
  await replica.stop();
}
