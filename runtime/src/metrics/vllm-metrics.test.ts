// vLLM's metrics at a server with the real routes: names, types, labels and buckets as vLLM 0.32 has them
// (vllm/v1/metrics/loggers.py; the page on observability says which of them are not there).

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TransferCounts } from '../disaggregation/transfer-counts.js';
import type { EngineStats } from '../engine/protocol.js';
import { DraftTotals } from '../schedule/draft-totals.js';
import { output } from '../http/scripted-engine.fixture.js';
import { ScriptedServer } from '../http/scripted-server.fixture.js';

const firstToken =
  '0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 20 40 80 160 640 2560 +Inf';
const perToken = '0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1 2.5 5 7.5 10 20 40 80 +Inf';
const request = '0.3 0.5 0.8 1 1.5 2 2.5 5 10 15 20 30 40 50 60 120 240 480 960 1920 7680 +Inf';
/** Up to the context's length, here 2048. */
const tokens = '1 2 5 10 20 50 100 200 500 1000 2000 +Inf';

/** Name in the page, type, labels besides model_name and engine, buckets. */
const vllm: readonly (readonly [string, 'gauge' | 'counter' | 'histogram', string, string])[] = [
  ['vllm:num_requests_running', 'gauge', '', ''],
  ['vllm:num_requests_waiting', 'gauge', '', ''],
  ['vllm:num_requests_waiting_by_reason', 'gauge', 'reason', ''],
  ['vllm:kv_cache_usage_perc', 'gauge', '', ''],
  ['vllm:engine_sleep_state', 'gauge', 'sleep_state', ''],
  ['vllm:corrupted_requests_total', 'counter', '', ''],
  ['vllm:external_prefix_cache_queries_total', 'counter', '', ''],
  ['vllm:external_prefix_cache_hits_total', 'counter', '', ''],
  ['vllm:mm_cache_queries_total', 'counter', '', ''],
  ['vllm:mm_cache_hits_total', 'counter', '', ''],
  ['vllm:prompt_tokens_recomputed_total', 'counter', '', ''],
  ['vllm:prompt_tokens_total', 'counter', '', ''],
  ['vllm:prompt_tokens_cached_total', 'counter', '', ''],
  ['vllm:prompt_tokens_by_source_total', 'counter', 'source', ''],
  ['vllm:generation_tokens_total', 'counter', '', ''],
  ['vllm:num_preemptions_total', 'counter', '', ''],
  ['vllm:prefix_cache_queries_total', 'counter', '', ''],
  ['vllm:prefix_cache_hits_total', 'counter', '', ''],
  ['vllm:spec_decode_num_drafts_total', 'counter', '', ''],
  ['vllm:spec_decode_num_draft_tokens_total', 'counter', '', ''],
  ['vllm:spec_decode_num_accepted_tokens_total', 'counter', '', ''],
  ['vllm:request_success_total', 'counter', 'finished_reason', ''],
  ['vllm:time_to_first_token_seconds', 'histogram', '', firstToken],
  ['vllm:inter_token_latency_seconds', 'histogram', '', perToken],
  ['vllm:request_time_per_output_token_seconds', 'histogram', '', perToken],
  ['vllm:e2e_request_latency_seconds', 'histogram', '', request],
  ['vllm:request_queue_time_seconds', 'histogram', '', request],
  ['vllm:request_inference_time_seconds', 'histogram', '', request],
  ['vllm:request_prefill_time_seconds', 'histogram', '', request],
  ['vllm:request_decode_time_seconds', 'histogram', '', request],
  ['vllm:request_prompt_tokens', 'histogram', '', tokens],
  ['vllm:request_generation_tokens', 'histogram', '', tokens],
  ['vllm:request_max_num_generation_tokens', 'histogram', '', tokens],
  ['vllm:request_params_max_tokens', 'histogram', '', tokens],
  ['vllm:request_prefill_kv_computed_tokens', 'histogram', '', tokens],
  ['vllm:iteration_tokens_total', 'histogram', '', '1 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 +Inf'],
  ['vllm:request_params_n', 'histogram', '', '1 2 5 10 20 +Inf'],
  ['vllm:request_num_preemptions', 'histogram', '', '1 2 3 4 5 10 20 +Inf'],
];

const stats: EngineStats = {
  ...{ running: 0, waiting: 0, blocksUsed: 0, blocksCached: 0, blocksTotal: 8, snapshotsKept: 0 },
  ...{ preemptionsTotal: 0, generationTokensTotal: 0, prefixCacheQueriesTotal: 0 },
  ...{ prefixCacheHitsTotal: 0, stepsTotal: 0, stepTokens: 0, stepMicrosTotal: 0, repeatedTokenRunsTotal: 0 },
  drafts: new DraftTotals(3).stats,
  graphs: { captured: 0, replayed: 0, direct: 0, refused: 0, bytes: 0 },
  transfers: new TransferCounts().stats,
};

let server: ScriptedServer;
let page: string;
/** Of a replica that nobody has asked anything. */
let unasked: string;
const value = (series: string): number =>
  Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')[1],
  );
const labels = 'model_name="tiny",engine="0"';

beforeAll(async () => {
  server = await ScriptedServer.start();
  Object.assign(server.engine, { stats });
  const { metrics } = server.parts;
  const cache = { blockSize: 16, dtype: 'float32', kvCacheDtype: 'auto' };
  // Served twice, as after a reload: nothing is there twice.
  for (const maxModelLen of [64, 2048])
    metrics.serving({ ...cache, memoryUtilizationPercent: 85, prefixCaching: true }, maxModelLen);
  unasked = await (await server.get('/metrics')).text();
  metrics.stepped(9);
  await server.post('/v1/completions', { prompt: 'abcdefg', n: 2, max_tokens: 20 });
  server.script = function* () {
    yield { ...output([]), embedding: new Float32Array([1]), finish: 'stop' };
  };
  await server.post('/v1/embeddings', { input: 'abcdefg' });
  server.script = () => {
    throw new Error('the inside');
  };
  server.parts.logger.transports[0]!.silent = true;
  await server.post('/v1/completions', { prompt: 'abcdefg' });
  page = await (await server.get('/metrics')).text();
});
afterAll(() => server.stop());

test.each(vllm)('%s is a %s', (name, type, more, buckets) => {
  const lines = page.split('\n');
  expect(lines).toContain(`# TYPE ${name} ${type}`);
  const series = lines.filter((line) => new RegExp(`^${name}(_bucket|_sum|_count)?\\{`).test(line));
  expect(series.length).toBeGreaterThan(0);
  const names = series.map((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, label]) => label!));
  const own = names.map((each) =>
    each
      .filter((label) => label !== 'le')
      .sort()
      .join(),
  );
  expect(new Set(own)).toEqual(
    new Set([['model_name', 'engine', ...(more === '' ? [] : [more])].sort().join()]),
  );
  const bounds = series.flatMap((line) => /_bucket\{.*le="([^"]*)"/.exec(line)?.[1] ?? []);
  expect(bounds.join(' ')).toBe(buckets);
});

test.each(vllm)('%s is there before the first request', (name) => {
  expect(unasked).toMatch(new RegExp(`^${name}(_count)?\\{`, 'm'));
});

test('nothing else is under vLLM’s names but the facts of the cache, and drafts by position', () => {
  const exposed = [...page.matchAll(/^# TYPE (vllm:\S+)/gm)].map(([, name]) => name);
  const others = [
    'vllm:cache_config_info',
    'vllm:spec_decode_num_accepted_tokens_per_pos_total',
    'vllm:admission_rejections_total',
  ];
  expect(exposed.toSorted()).toEqual([...vllm.map(([name]) => name), ...others].toSorted());
});

test('what was served is in them', () => {
  expect(page).toMatch(/^vllm:cache_config_info\{.*num_gpu_blocks="8".*\} 1$/m);
  expect([...page.matchAll(/^vllm:cache_config_info\{/gm)]).toHaveLength(1);
  const ended = (reason: string): number =>
    value(`vllm:request_success_total{${labels},finished_reason="${reason}"}`);
  expect([ended('stop'), ended('length'), ended('abort'), ended('error')]).toEqual([3, 0, 0, 1]);
  const promptTokens = value(`vllm:request_prompt_tokens_sum{${labels}}`) / 4;
  expect(promptTokens).toBeGreaterThan(3);
  // Two answers and an embedding went through the model, with 3 tokens from the cache each.
  expect(value(`vllm:prompt_tokens_total{${labels}}`)).toBe(3 * promptTokens);
  expect(value(`vllm:prompt_tokens_cached_total{${labels}}`)).toBe(9);
  const from = (source: string): number =>
    value(`vllm:prompt_tokens_by_source_total{${labels},source="${source}"}`);
  expect([from('local_compute'), from('local_cache_hit'), from('external_kv_transfer')]).toEqual([
    3 * promptTokens - 9,
    9,
    0,
  ]);
  expect(value(`vllm:request_num_preemptions_count{${labels}}`)).toBe(4);
  // The last one failed before it began.
  expect(value(`vllm:request_prefill_kv_computed_tokens_sum{${labels}}`)).toBe(3 * promptTokens - 9);
  expect(value(`vllm:request_generation_tokens_sum{${labels}}`)).toBe(14);
  expect(value(`vllm:generation_tokens_total{${labels}}`)).toBe(14);
  expect(value(`vllm:iteration_tokens_total_sum{${labels}}`)).toBe(9);
  // Once for each step after the first that gave a token, of two answers.
  expect(value(`vllm:inter_token_latency_seconds_count{${labels}}`)).toBe(6);
  expect(value(`vllm:time_to_first_token_seconds_count{${labels}}`)).toBe(2);
  expect(value(`vllm:corrupted_requests_total{${labels}}`)).toBe(2);
  const sleep = (state: string): number => value(`vllm:engine_sleep_state{${labels},sleep_state="${state}"}`);
  expect([sleep('awake'), sleep('weights_offloaded'), sleep('discard_all')]).toEqual([1, 0, 0]);
  // Two prompts were answered, and one was embedded.
  expect(value(`vllm:request_params_n_count{${labels}}`)).toBe(3);
  expect(value(`vllm:request_params_n_sum{${labels}}`)).toBe(4);
  expect(value(`vllm:request_max_num_generation_tokens_sum{${labels}}`)).toBe(7);
  expect(value(`vllm:request_inference_time_seconds_count{${labels}}`)).toBe(3);
  expect(value(`vllm:request_decode_time_seconds_count{${labels}}`)).toBe(2);
});
