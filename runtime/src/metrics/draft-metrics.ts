// Counters of speculative decoding, under vLLM's names. The engine counts from its own start: a smaller figure than
// the last means that it was restarted.

import { Counter, type Registry } from 'prom-client';
import type { DraftStats } from '../schedule/draft-totals.js';

interface Labels {
  readonly model_name: string;
  readonly engine: string;
}

/** @param read what the engine has counted; null before its first step */
export function observeDrafts(registry: Registry, labels: Labels, read: () => DraftStats | null): void {
  const totals = (
    name: string,
    help: string,
    by: readonly string[],
    list: (stats: DraftStats) => Figure[],
  ) => {
    const seen = new Map<string, number>();
    new Counter({
      name,
      help,
      labelNames: ['model_name', 'engine', ...by],
      registers: [registry],
      collect() {
        const stats = read();
        if (stats === null) return;
        for (const { total, ...more } of list(stats)) {
          const key = JSON.stringify(more);
          const before = seen.get(key) ?? 0;
          this.inc({ ...labels, ...more }, total < before ? total : total - before);
          seen.set(key, total);
        }
      },
    });
  };
  totals(
    'vllm:spec_decode_num_drafts_total',
    'Times that a sequence had drafts verified.',
    [],
    ({ roundsTotal }) => [{ total: roundsTotal }],
  );
  totals('vllm:spec_decode_num_draft_tokens_total', 'Drafts verified.', [], ({ draftTokensTotal }) => [
    { total: draftTokensTotal },
  ]);
  totals('vllm:spec_decode_num_accepted_tokens_total', 'Drafts accepted.', [], ({ acceptedTokensTotal }) => [
    { total: acceptedTokensTotal },
  ]);
  totals(
    'vllm:spec_decode_num_accepted_tokens_per_pos_total',
    'Drafts accepted, by how many tokens they stood behind the first.',
    ['position'],
    ({ acceptedPerPositionTotal }) =>
      acceptedPerPositionTotal.map((total, position) => ({ total, position: String(position) })),
  );
}

interface Figure {
  readonly total: number;
  readonly position?: string;
}
