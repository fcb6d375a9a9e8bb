// Counters of speculative decoding, under vLLM's names.

import type { Registry } from 'prom-client';
import type { DraftStats } from '../schedule/draft-totals.js';
import { ScrapedMetrics, type Labels } from './scraped-metrics.js';

/** @param read what the engine has counted; null before its first step */
export function observeDrafts(registry: Registry, labels: Labels, read: () => DraftStats | null): void {
  const scraped = new ScrapedMetrics(registry, labels);
  const total = (name: string, help: string, pick: (stats: DraftStats) => number): void =>
    scraped.totals(name, help, [], () => {
      const stats = read();
      return stats === null ? [] : [{ value: pick(stats), by: {} }];
    });
  total(
    'vllm:spec_decode_num_drafts_total',
    'Times that a sequence had drafts verified.',
    ({ roundsTotal }) => roundsTotal,
  );
  total(
    'vllm:spec_decode_num_draft_tokens_total',
    'Drafts verified.',
    ({ draftTokensTotal }) => draftTokensTotal,
  );
  total(
    'vllm:spec_decode_num_accepted_tokens_total',
    'Drafts accepted.',
    ({ acceptedTokensTotal }) => acceptedTokensTotal,
  );
  scraped.totals(
    'vllm:spec_decode_num_accepted_tokens_per_pos_total',
    'Drafts accepted, by how many tokens they stood behind the first.',
    ['position'],
    () =>
      (read()?.acceptedPerPositionTotal ?? []).map((value, position) => ({
        value,
        by: { position: String(position) },
      })),
  );
}
