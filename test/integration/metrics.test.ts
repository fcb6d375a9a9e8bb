// The metrics of a real replica as Prometheus takes them in: its own parser, storage and query engine, and promtool's
// linter, built from their Go modules (deploy/local/tools/promcheck).

import { beforeAll, expect, jest, test } from '@jest/globals';
import { askPrometheus, type PrometheusAnswer, type QueryResult } from './promcheck.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { dashboardQueries } from './vllm-dashboard.js';

jest.setTimeout(120_000);

const tokensOfStep =
  'rate(vllm:iteration_tokens_total_sum[1m]) / rate(vllm:iteration_tokens_total_count[1m])';
const ofTheProcess = ['process_resident_memory_bytes', 'process_start_time_seconds', 'process_open_fds'];
/** Those behind vLLM's own dashboards are of others. */
const queries = [...dashboardQueries('demo'), tokensOfStep, ...ofTheProcess];
let answer: PrometheusAnswer;

beforeAll(async () => {
  const replica = await ReplicaProcess.start({ uri: demoCheckpoint });
  await replica.ready();
  const scrape = async (): Promise<string> => (await fetch(`${replica.url}/metrics`)).text();
  const pages = [await scrape()];
  for (let i = 0; i < 3; i++) {
    await replica.post('/v1/completions', { prompt: 'The capital of', max_tokens: 8 });
    await replica.post('/v1/chat/completions', {
      messages: [{ role: 'user', content: 'Who wrote Hamlet?' }],
    });
    pages.push(await scrape());
  }
  await replica.stop();
  const target = { job: 'vllm', instance: 'replica:8080' };
  const scrapes = pages.map((text, i) => ({
    atMs: Date.parse('2026-01-01T00:00:00Z') + i * 15_000,
    text,
    target,
  }));
  answer = await askPrometheus({ scrapes, queries });
});

test.each(queries.map((query, index) => [query, index] as const))('%s returns data', (_, index) => {
  const { samples, error } = answer.results[index]!;
  expect(error).toBeUndefined();
  expect(samples.length).toBeGreaterThan(0);
  for (const { value } of samples) expect(value).not.toBeNull();
});

test('what the dashboard shows is what was served', () => {
  const of = (query: string): QueryResult['samples'] =>
    answer.results[queries.findIndex((each) => each.startsWith(query))]!.samples;
  expect(of('rate(vllm:generation_tokens_total')[0]!.value).toBeGreaterThan(0);
  expect(of('histogram_quantile(0.5, sum by(le) (rate(vllm:time_to_first')[0]!.value).toBeGreaterThan(0);
  expect(of(tokensOfStep)[0]!.value).toBeGreaterThan(1);
  const reasons = of('sum by(finished_reason)').map(({ labels }) => labels['finished_reason']);
  expect(reasons.toSorted()).toEqual(['abort', 'error', 'length', 'repetition', 'stop']);
});

test('promtool finds nothing to say of our own metrics', () => {
  // vLLM's have a colon in their names, which is for rules; Node's are named by the library that has them.
  expect(answer.problems.filter(({ metric }) => !/^(vllm:|nodejs_)/.test(metric))).toEqual([]);
});
