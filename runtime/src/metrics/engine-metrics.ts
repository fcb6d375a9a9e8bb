// What scrapes read from the engine: its queue, its caches, its steps and faults, and the load under way.

import { podMetrics } from '@llmservice/crds';
import type { Registry } from 'prom-client';
import type { EngineHealth, EngineState } from '../engine/engine-state.js';
import type { EngineStats } from '../engine/protocol.js';
import { ScrapedMetrics, type Labels } from './scraped-metrics.js';

/** What scrapes read; null before there is an engine. */
export interface ObservedState {
  readonly engine: ObservedEngine | null;
  readonly load: { readonly pulled: LoadBytes | null; readonly loaded: LoadBytes | null } | null;
}

interface ObservedEngine {
  readonly stats: EngineStats | null;
  health(): EngineHealth;
}

interface LoadBytes {
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export function observeEngine(registry: Registry, labels: Labels, state: () => ObservedState): void {
  const scraped = new ScrapedMetrics(registry, labels);
  const fromStats = (pick: (stats: EngineStats) => number) => (): number => {
    const stats = state().engine?.stats ?? null;
    return stats === null ? 0 : pick(stats);
  };
  observeRoom(scraped, fromStats);
  const restarts = (): number => state().engine?.health().restarts ?? 0;
  scraped.total(
    'llmservice_engine_restarts_total',
    'Times the engine process was lost and started again.',
    restarts,
  );
  scraped.gauge(
    'llmservice_engine_restarts',
    'Deprecated: llmservice_engine_restarts_total has the same value. The next version removes it.',
    restarts,
  );
  scraped.info(
    'llmservice_engine_device_info',
    'What runs the model: 1, with the facts as labels.',
    ['name', 'architecture', 'partition', 'compute_units', 'xcds', 'memory_bytes'],
    () => deviceLabels(state().engine?.health().state),
  );
  observeLoad(scraped, 'pull', () => state().load?.pulled ?? null);
  observeLoad(scraped, 'load', () => state().load?.loaded ?? null);
  scraped.totals(
    'llmservice_numerical_faults_total',
    'Requests that ended because of non-finite or degenerate logits, by kind.',
    ['kind'],
    () =>
      Object.entries(state().engine?.health().numericalFaults ?? {}).map(([kind, value]) => ({
        value,
        by: { kind },
      })),
  );
  observeTotals(scraped, fromStats);
  observeGraphs(scraped, fromStats);
}

/** A label without a value is empty, which to Prometheus is as if it were not there. */
function deviceLabels(state: EngineState | undefined): Readonly<Record<string, string>> | null {
  if (state?.kind !== 'ready') return null;
  const { name, architecture, partition, computeUnits, xcds, memoryBytes } = state.device;
  return {
    name,
    architecture,
    partition: partition ?? '',
    compute_units: String(computeUnits),
    xcds: xcds === null ? '' : String(xcds),
    memory_bytes: String(memoryBytes),
  };
}

/** Reads a figure from the stats; 0 while there are none. */
type FromStats = (pick: (stats: EngineStats) => number) => () => number;

function observeRoom(scraped: ScrapedMetrics, fromStats: FromStats): void {
  scraped.gauge(
    podMetrics.running,
    'Sequences in the running batch.',
    fromStats((stats) => stats.running),
  );
  scraped.gauge(
    podMetrics.waiting,
    'Sequences that wait for room.',
    fromStats((stats) => stats.waiting),
  );
  const waiting = fromStats((stats) => stats.waiting);
  scraped.gauges(
    'vllm:num_requests_waiting_by_reason',
    'Sequences that wait for room; none is put off for another reason.',
    ['reason'],
    () => [
      { value: waiting(), by: { reason: 'capacity' } },
      { value: 0, by: { reason: 'deferred' } },
    ],
  );
  scraped.gauge(
    podMetrics.kvUsage,
    'Share of KV blocks that running sequences hold, 0 to 1.',
    fromStats(({ blocksUsed, blocksTotal }) => (blocksTotal === 0 ? 0 : blocksUsed / blocksTotal)),
  );
  scraped.gauge(
    'llmservice_kv_blocks_used',
    'KV blocks that running sequences hold.',
    fromStats((stats) => stats.blocksUsed),
  );
  scraped.gauge(
    'llmservice_kv_blocks_cached',
    'KV blocks kept for later requests until they are needed.',
    fromStats((stats) => stats.blocksCached),
  );
  scraped.gauge(
    'llmservice_state_snapshots_kept',
    'Snapshots of recurrent state kept for later requests.',
    fromStats((stats) => stats.snapshotsKept),
  );
  scraped.gauge(
    'llmservice_kv_blocks',
    'KV blocks of the cache.',
    fromStats((stats) => stats.blocksTotal),
  );
}

/** The phases overlap: the engine loads what has been pulled. */
function observeLoad(scraped: ScrapedMetrics, phase: 'pull' | 'load', read: () => LoadBytes | null): void {
  scraped.gauge(
    `llmservice_${phase}_bytes_done`,
    `Bytes of weights ${phase === 'pull' ? 'on disk' : 'in memory'}; 0 when no load is under way.`,
    () => read()?.bytesDone ?? 0,
  );
  scraped.gauge(
    `llmservice_${phase}_bytes_expected`,
    `Bytes of weights to ${phase}; 0 when no load is under way.`,
    () => read()?.bytesTotal ?? 0,
  );
}

/** Steps as graphs of launches; all 0 where there is no GPU. */
function observeGraphs(scraped: ScrapedMetrics, fromStats: FromStats): void {
  scraped.gauge(
    'llmservice_graph_bytes',
    'Memory of the device that graphs took, by its driver, when they first ran.',
    fromStats(({ graphs }) => graphs.bytes),
  );
  scraped.total(
    'llmservice_graphs_captured_total',
    'Lists of launches that became graphs.',
    fromStats(({ graphs }) => graphs.captured),
  );
  scraped.total(
    'llmservice_graphs_refused_total',
    'Times that the device had no room for a graph, so that a list ran launch by launch.',
    fromStats(({ graphs }) => graphs.refused),
  );
}

function observeTotals(scraped: ScrapedMetrics, fromStats: FromStats): void {
  scraped.total(
    'llmservice_repeated_token_runs_total',
    'Times a generation had got one token 256 times in a row.',
    fromStats((stats) => stats.repeatedTokenRunsTotal),
  );
  scraped.total(
    'vllm:num_preemptions_total',
    'Sequences preempted.',
    fromStats((stats) => stats.preemptionsTotal),
  );
  scraped.total(
    'vllm:prefix_cache_queries_total',
    'Prompt tokens looked up in the prefix cache.',
    fromStats((stats) => stats.prefixCacheQueriesTotal),
  );
  scraped.total(
    'vllm:prefix_cache_hits_total',
    'Prompt tokens found in the prefix cache.',
    fromStats((stats) => stats.prefixCacheHitsTotal),
  );
  scraped.total(
    'llmservice_engine_steps_total',
    'Engine steps.',
    fromStats((stats) => stats.stepsTotal),
  );
  scraped.total(
    'llmservice_engine_step_seconds_total',
    'Time in engine steps.',
    fromStats((stats) => stats.stepMicrosTotal / 1e6),
  );
}
