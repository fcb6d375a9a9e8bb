// Of prefill and decode apart: prompts that a decode pod had computed elsewhere, and tickets of a prefill pod.

import type { Registry } from 'prom-client';
import type { TransferStats } from '../disaggregation/transfer-counts.js';
import { fallbackReasons } from '../disaggregation/prefill-failed.js';
import { ScrapedMetrics, type Labels } from './scraped-metrics.js';

/** @param read what the engine has counted; null before its first step */
export function observeTransfers(registry: Registry, labels: Labels, read: () => TransferStats | null): void {
  const scraped = new ScrapedMetrics(registry, labels);
  const of = (pick: (stats: TransferStats) => number) => (): number => {
    const stats = read();
    return stats === null ? 0 : pick(stats);
  };
  scraped.total(
    'llmservice_prefill_prompts_total',
    'Prompts whose KV came from a prefill pod.',
    of((stats) => stats.promptsTotal),
  );
  scraped.total(
    'llmservice_prefill_tokens_total',
    'Tokens of prompts whose KV came from a prefill pod.',
    of((stats) => stats.tokensTotal),
  );
  scraped.total(
    'llmservice_prefill_seconds_total',
    'Time that prompts were at prefill pods, from the question to the answer.',
    of((stats) => stats.askedSecondsTotal),
  );
  scraped.total(
    'llmservice_kv_transfer_bytes_total',
    'Bytes of KV and recurrent state that came from prefill pods.',
    of((stats) => stats.bytesTotal),
  );
  scraped.total(
    'llmservice_kv_transfer_seconds_total',
    'Time in transfers from prefill pods that went well.',
    of((stats) => stats.fetchedSecondsTotal),
  );
  scraped.totals(
    'llmservice_prefill_fallbacks_total',
    'Prompts computed by this pod though a prefill pod was to do so, by reason.',
    ['reason'],
    () => fallbackReasons.map((reason) => ({ value: read()?.fallbacksTotal[reason] ?? 0, by: { reason } })),
  );
  scraped.gauge(
    'llmservice_prefill_tickets',
    'Prompts that this prefill pod has computed and that wait to be fetched.',
    of((stats) => stats.ticketsOpen),
  );
  scraped.total(
    'llmservice_prefill_tickets_expired_total',
    'Prompts that this prefill pod has computed and that nobody fetched in time.',
    of((stats) => stats.ticketsExpiredTotal),
  );
}
