// Prefill and decode apart, each pod a container of its own: what clients of the decode pod get, also where the pod that
// computes their prompts stalls, ends in the midst of one, or is gone.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { freePort } from '../processes.js';
import { demoCheckpoint, ReplicaProcess, type ReplicaOptions } from './replica-process.js';

jest.setTimeout(240_000);

let decode: ReplicaProcess;
let prefill: ReplicaProcess;
/** An undivided replica's answers, by prompt. */
const wanted = new Map<string, Answer>();

interface Answer {
  readonly choices: readonly { readonly text: string; readonly logprobs: unknown }[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number };
  };
}

const long = (about: string): string => `${about}. ${'What is the capital of France? Paris. '.repeat(20)}`;
const prompts = ['Rivers', 'Cities', 'Seas'].map(long);
const nextTurn = `${prompts[0]!}And of Italy?`;
const lost = ['Mountains', 'Islands'].map(long);

const start = (options: Partial<ReplicaOptions>): Promise<ReplicaProcess> =>
  ReplicaProcess.start({ uri: demoCheckpoint, ...options, env: { LLMSERVICE_THREADS: '1', ...options.env } });

async function answer(replica: ReplicaProcess, prompt: string, signal?: AbortSignal): Promise<Answer> {
  const body = { model: 'demo', prompt, temperature: 0, max_tokens: 16, ignore_eos: true, logprobs: 5 };
  return (await (await replica.post('/v1/completions', body, signal)).json()) as Answer;
}

/** Fallbacks of the decode pod, by reason; those that there are. */
async function fallbacks(): Promise<Record<string, number>> {
  const page = await (await fetch(`${decode.url}/metrics`)).text();
  const found = [...page.matchAll(/^llmservice_prefill_fallbacks_total{.*reason="(\w+)"} (\d+)$/gm)];
  const counts = found.map(([, reason = '', count]) => [reason, Number(count)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

beforeAll(async () => {
  const alone = await start({});
  await alone.ready();
  for (const prompt of [...prompts, nextTurn, ...lost]) wanted.set(prompt, await answer(alone, prompt));
  await alone.stop();
  const port = String(await freePort());
  const shared = { PREFILL_PORT: port };
  const env = { ...shared, DISAGGREGATION_ROLE: 'prefill', KV_TRANSFER_PORT: String(await freePort()) };
  prefill = await start({ env });
  const asks = { PREFILL_HOST: '127.0.0.1', PREFILL_MIN_TOKENS: '64' };
  decode = await start({ env: { ...shared, ...asks, DISAGGREGATION_ROLE: 'decode' } });
  await Promise.all([decode, prefill].map((pod) => pod.ready()));
});

afterAll(async () => {
  await Promise.all([decode, prefill].map((pod) => pod.stop()));
});

test('answers are bit by bit those of an undivided replica, and prompts are computed elsewhere', async () => {
  for (const prompt of prompts) {
    const { choices, usage } = await answer(decode, prompt);
    expect(choices).toEqual(wanted.get(prompt)!.choices);
    // Whoever computed them: they were not cached.
    expect(usage.prompt_tokens_details?.cached_tokens ?? 0).toBe(0);
  }
  expect(await fallbacks()).toEqual({});
  expect(await decode.metric('llmservice_prefill_prompts_total')).toBe(prompts.length);
  const tokens = await decode.metric('llmservice_prefill_tokens_total');
  expect(tokens).toBeGreaterThan(prompts.length * 100);
  expect(await prefill.metric('vllm:prefix_cache_queries_total')).toBeGreaterThan(tokens);
  expect(await decode.metric('llmservice_kv_transfer_bytes_total')).toBeGreaterThan(0);
});

test('what came once is cached like any prompt', async () => {
  const { choices, usage } = await answer(decode, nextTurn);
  expect(choices).toEqual(wanted.get(nextTurn)!.choices);
  expect(usage.prompt_tokens_details?.cached_tokens).toBeGreaterThan(100);
  expect(await decode.metric('llmservice_prefill_prompts_total')).toBe(prompts.length);
});

test('nothing is held for a client that went away', async () => {
  prefill.child.kill('SIGSTOP');
  const client = new AbortController();
  const gone = answer(decode, long('Lakes'), client.signal).catch((error: unknown) => (error as Error).name);
  await decode.eventually('the request', async () => (await decode.health()).engine?.inFlight === 1);
  client.abort();
  expect(await gone).toBe('AbortError');
  prefill.child.kill('SIGCONT');
  for (const pod of [decode, prefill]) {
    await pod.eventually('blocks that nobody holds', async () => {
      const { engine } = await pod.health();
      return engine?.inFlight === 0 && (await pod.metric('llmservice_kv_blocks_used')) === 0;
    });
  }
  expect(await fallbacks()).toEqual({});
});

test('a pod that goes in the midst of a prompt is not missed, nor is one that is gone', async () => {
  const [first, second] = lost as [string, string];
  // It has taken the prompt, or its connection at least.
  prefill.child.kill('SIGSTOP');
  const answered = answer(decode, first);
  await decode.eventually('the request', async () => (await decode.health()).engine?.inFlight === 1);
  prefill.child.kill('SIGKILL');
  expect((await answered).choices).toEqual(wanted.get(first)!.choices);
  expect((await answer(decode, second)).choices).toEqual(wanted.get(second)!.choices);
  const reasons = await fallbacks();
  expect(Object.values(reasons).reduce((sum, count) => sum + count, 0)).toBe(2);
  expect(Object.keys(reasons).every((reason) => ['unreachable', 'timedOut', 'noPod'].includes(reason))).toBe(
    true,
  );
});
