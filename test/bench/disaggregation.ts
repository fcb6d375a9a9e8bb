// What prefill and decode apart change beside long prompts: two pods, each with a core of its own. Undivided they take
// streams and long prompts in turn; divided one answers both streams and all prompts, which the other computes. Measured
// are the time to first token of the prompts and the gaps between the chunks of the streams. The clients are this process,
// on the same cores as both pods: with a core for it, both ways would be faster.
// usage: tsx test/bench/disaggregation.ts [PROMPTS [ROUNDS]]

import { execFileSync } from 'node:child_process';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { StreamClient } from '../load/stream-client.js';
import { median } from '../median.js';
import { processTree } from '../process-tree.js';
import { freePort } from '../processes.js';

const [prompts = 40, rounds = 3] = process.argv.slice(2).map(Number);
const pauseMs = 150;
const sentence = 'The capital of France is Paris and the river there is called the Seine. ';

interface Round {
  readonly firstTokenMs: number[];
  readonly gapsMs: number[];
}

async function pod(core: number, env: NodeJS.ProcessEnv): Promise<ReplicaProcess> {
  const replica = await ReplicaProcess.start({
    uri: demoCheckpoint,
    env: { LLMSERVICE_THREADS: '1', ...env },
  });
  await replica.ready();
  for (const pid of processTree(replica.child.pid ?? NaN))
    execFileSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
  return replica;
}

async function undivided(): Promise<ReplicaProcess[]> {
  return [await pod(0, {}), await pod(1, {})];
}

/** The first answers, the other computes. */
async function divided(): Promise<ReplicaProcess[]> {
  const shared = { PREFILL_PORT: String(await freePort()), KV_TRANSFER_PORT: String(await freePort()) };
  const prefill = await pod(1, { ...shared, DISAGGREGATION_ROLE: 'prefill' });
  const decode = { DISAGGREGATION_ROLE: 'decode', PREFILL_HOST: '127.0.0.1', PREFILL_MIN_TOKENS: '256' };
  return [await pod(0, { ...shared, ...decode }), prefill];
}

const portOf = ({ url }: ReplicaProcess): number => Number(new URL(url).port);

/** Streams one answer after the other until the signal; the gaps between their chunks. */
function streaming(replica: ReplicaProcess, over: AbortSignal): Promise<number[]> {
  const gaps: number[] = [];
  return (async () => {
    while (!over.aborted) {
      let last = NaN;
      const body = { prompt: 'The', max_tokens: 900, ignore_eos: true, stream: true };
      const onEvent = (): void => {
        const at = performance.now();
        if (!Number.isNaN(last)) gaps.push(at - last);
        last = at;
      };
      const client = new StreamClient({ port: portOf(replica), path: '/v1/completions', body, onEvent });
      over.addEventListener('abort', () => client.destroy(), { once: true });
      await client.ended;
    }
    return gaps;
  })();
}

let asked = 0;
async function firstToken(replica: ReplicaProcess): Promise<number> {
  // Of no other prompt's beginning.
  const prompt = `${String(asked++)} ${sentence.repeat(40)}`;
  const startedAt = performance.now();
  const response = await replica.post('/v1/completions', { prompt, max_tokens: 1, temperature: 0 });
  if (response.status !== 200) throw new Error(`${String(response.status)} ${await response.text()}`);
  await response.arrayBuffer();
  return performance.now() - startedAt;
}

async function measure(serving: readonly ReplicaProcess[]): Promise<Round> {
  const of = (i: number): ReplicaProcess => serving[i % serving.length]!;
  const over = new AbortController();
  const streams = [streaming(of(0), over.signal), streaming(of(1), over.signal)];
  const firstTokenMs: number[] = [];
  for (let i = 0; i < prompts; i++) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    firstTokenMs.push(await firstToken(of(i)));
  }
  over.abort();
  return { firstTokenMs, gapsMs: (await Promise.all(streams)).flat() };
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? NaN;

console.log(
  '| pods | first token, median ms | p90 ms | gap, median ms | p99 ms | largest ms | computed elsewhere |',
);
console.log('|---|---|---|---|---|---|---|');
for (let round = 0; round < rounds; round++) {
  for (const [name, start] of Object.entries({ undivided, divided })) {
    const pods = await start();
    try {
      const serving = name === 'divided' ? pods.slice(0, 1) : pods;
      await measure(serving);
      const { firstTokenMs, gapsMs } = await measure(serving);
      const elsewhere = await serving[0]!.metric('llmservice_prefill_prompts_total');
      const times = [
        median(firstTokenMs),
        ...[quantile(firstTokenMs, 0.9), median(gapsMs)],
        ...[quantile(gapsMs, 0.99), Math.max(...gapsMs)],
      ];
      console.log(`| ${[name, ...times.map((each) => each.toFixed(1)), elsewhere].join(' | ')} |`);
    } finally {
      await Promise.all(pods.map((each) => each.stop()));
    }
  }
}
