import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { TransferCounts } from '../disaggregation/transfer-counts.js';
import { observeTransfers } from './transfer-metrics.js';

test('what a decode pod and a prefill pod count is shown, each reason from the start', async () => {
  const registry = new Registry();
  const counts = new TransferCounts();
  observeTransfers(registry, { model_name: 'm', engine: '0' }, () => counts.stats);
  counts.asked(1_500);
  counts.fetched(640, 4096, 250);
  counts.fellBack('timedOut');
  counts.expired();
  counts.ticketsOpen = 3;
  const page = await registry.metrics();
  const value = (series: string): string | undefined =>
    page
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.split('} ')[1];
  expect(value('llmservice_prefill_prompts_total{')).toBe('1');
  expect(value('llmservice_prefill_tokens_total{')).toBe('640');
  expect(value('llmservice_prefill_seconds_total{')).toBe('1.5');
  expect(value('llmservice_kv_transfer_bytes_total{')).toBe('4096');
  expect(value('llmservice_kv_transfer_seconds_total{')).toBe('0.25');
  expect(value('llmservice_prefill_tickets{')).toBe('3');
  expect(value('llmservice_prefill_tickets_expired_total{')).toBe('1');
  const reasons = [...page.matchAll(/fallbacks_total{.*reason="(\w+)"} (\d)/g)];
  expect(new Map(reasons.map(([, reason, count]) => [reason, count])).get('timedOut')).toBe('1');
  expect(reasons).toHaveLength(13);
});
