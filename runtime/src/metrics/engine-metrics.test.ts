import { describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { TransferCounts } from '../disaggregation/transfer-counts.js';
import type { EngineHealth } from '../engine/engine-state.js';
import type { EngineStats } from '../engine/protocol.js';
import { observeEngine, type ObservedState } from './engine-metrics.js';

const stats: EngineStats = {
  running: 3,
  waiting: 2,
  blocksUsed: 25,
  blocksCached: 10,
  blocksTotal: 100,
  snapshotsKept: 4,
  preemptionsTotal: 7,
  generationTokensTotal: 500,
  prefixCacheQueriesTotal: 800,
  prefixCacheHitsTotal: 600,
  drafts: { roundsTotal: 0, draftTokensTotal: 0, acceptedTokensTotal: 0, acceptedPerPositionTotal: [] },
  stepsTotal: 40,
  stepMicrosTotal: 2_500_000,
  stepTokens: 1,
  repeatedTokenRunsTotal: 1,
  graphs: { captured: 9, replayed: 30, direct: 10, refused: 3, bytes: 4096 },
  transfers: new TransferCounts().stats,
};
const health: EngineHealth = {
  state: { kind: 'stopped' },
  pid: null,
  heartbeatAgeMs: null,
  restarts: 0,
  inFlight: 0,
  numericalFaults: { notFinite: 2, collapsed: 0, stuck: 1 },
};
const withEngine = (changes: Partial<EngineStats> = {}, faults = health.numericalFaults): ObservedState => ({
  engine: {
    stats: { ...stats, ...changes },
    health: () => ({ ...health, restarts: 5, numericalFaults: faults }),
  },
  load: null,
});

/** What each scrape shows, by metric, and by kind of fault. */
async function scrapes(...states: ObservedState[]): Promise<Record<string, number>[]> {
  const registry = new Registry();
  let state = states[0]!;
  observeEngine(registry, { model_name: 'm', engine: '0' }, () => state);
  const shown = [];
  for (state of states) {
    const lines = (await registry.metrics()).split('\n').filter((line) => line.includes('{'));
    const figures = lines.map((line) => {
      const [, name, kind = '', value] = /^([^{]*){[^}]*?(?:kind="(\w+)")?} (.*)$/.exec(line)!;
      return [kind === '' ? name! : kind, Number(value)] as const;
    });
    shown.push(Object.fromEntries(figures));
  }
  return shown;
}

describe('the metrics that scrapes read from the engine', () => {
  test('are all 0 while there is none', async () => {
    const [none] = await scrapes({ engine: null, load: null });
    expect(Object.keys(none!).length).toBeGreaterThan(15);
    expect(Object.values(none!).every((value) => value === 0)).toBe(true);
  });

  test('show its queue, its cache, its steps and its faults', async () => {
    const [shown] = await scrapes(withEngine());
    expect(shown).toMatchObject({
      'vllm:num_requests_running': 3,
      'vllm:num_requests_waiting': 2,
      'vllm:kv_cache_usage_perc': 0.25,
      llmservice_kv_blocks_cached: 10,
      llmservice_state_snapshots_kept: 4,
      llmservice_engine_restarts_total: 5,
      llmservice_engine_restarts: 5,
      'vllm:num_preemptions_total': 7,
      'vllm:prefix_cache_queries_total': 800,
      'vllm:prefix_cache_hits_total': 600,
      llmservice_engine_steps_total: 40,
      llmservice_graph_bytes: 4096,
      llmservice_graphs_captured_total: 9,
      llmservice_graphs_refused_total: 3,
      llmservice_engine_step_seconds_total: 2.5,
      llmservice_repeated_token_runs_total: 1,
      notFinite: 2,
      collapsed: 0,
      stuck: 1,
    });
  });

  test('show a load while it is under way', async () => {
    const loaded = { bytesDone: 1, bytesTotal: 9 };
    const pulled = { bytesDone: 4, bytesTotal: 9 };
    const [loading, ready] = await scrapes({ engine: null, load: { pulled, loaded } }, withEngine());
    expect(loading).toMatchObject({ llmservice_pull_bytes_done: 4, llmservice_load_bytes_done: 1 });
    expect(loading).toMatchObject({ llmservice_pull_bytes_expected: 9, llmservice_load_bytes_expected: 9 });
    expect(ready).toMatchObject({ llmservice_pull_bytes_expected: 0, llmservice_load_bytes_expected: 0 });
  });

  test('count on where an engine that begins anew takes the place of one', async () => {
    const another = withEngine({ stepsTotal: 3, running: 1 }, { notFinite: 1, collapsed: 0, stuck: 1 });
    const shown = await scrapes(withEngine(), withEngine({ stepsTotal: 50 }), another);
    expect(shown.map((each) => each['llmservice_engine_steps_total'])).toEqual([40, 50, 53]);
    expect(shown.map((each) => each['notFinite'])).toEqual([2, 2, 3]);
    expect(shown.map((each) => each['vllm:num_requests_running'])).toEqual([3, 3, 1]);
  });
});
