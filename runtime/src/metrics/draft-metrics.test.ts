import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { DraftTotals, type DraftStats } from '../schedule/draft-totals.js';
import { observeDrafts } from './draft-metrics.js';

test('drafts are counted by position, and continue from where they were when the engine starts again', async () => {
  let stats: DraftStats | null = null;
  const registry = new Registry();
  observeDrafts(registry, { model_name: 'm', engine: '0' }, () => stats);
  const lines = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('vllm:'));
  expect((await lines()).filter((line) => !line.endsWith(' 0'))).toEqual([]);

  const before = new DraftTotals(3);
  before.add(3, 2);
  before.add(3, 1);
  stats = before.stats;
  const labels = 'model_name="m",engine="0"';
  expect(await lines()).toEqual([
    `vllm:spec_decode_num_drafts_total{${labels}} 2`,
    `vllm:spec_decode_num_draft_tokens_total{${labels}} 6`,
    `vllm:spec_decode_num_accepted_tokens_total{${labels}} 3`,
    `vllm:spec_decode_num_accepted_tokens_per_pos_total{${labels},position="0"} 2`,
    `vllm:spec_decode_num_accepted_tokens_per_pos_total{${labels},position="1"} 1`,
    `vllm:spec_decode_num_accepted_tokens_per_pos_total{${labels},position="2"} 0`,
  ]);

  const restarted = new DraftTotals(3);
  restarted.add(1, 1);
  stats = restarted.stats;
  expect((await lines()).slice(0, 4)).toEqual([
    `vllm:spec_decode_num_drafts_total{${labels}} 3`,
    `vllm:spec_decode_num_draft_tokens_total{${labels}} 7`,
    `vllm:spec_decode_num_accepted_tokens_total{${labels}} 4`,
    `vllm:spec_decode_num_accepted_tokens_per_pos_total{${labels},position="0"} 3`,
  ]);
});
