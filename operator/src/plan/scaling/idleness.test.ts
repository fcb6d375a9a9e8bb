import { describe, expect, test } from '@jest/globals';
import { idlenessAt, parseActivity, watch, type Look, type Watched } from './idleness.js';

const look = (...pods: [running: number, waiting: number, counted: number][]): Look => ({
  pods: new Map(
    pods.map(([running, waiting, counted], index) => [
      `uid-${String(index)}`,
      { running, waiting, counted, kvUsage: null },
    ]),
  ),
  unseen: [],
});
const unseen: Look = { ...look([0, 0, 5]), unseen: ['pod a is gone'] };

/** After looks a second apart. */
const after = (...looks: Look[]): Watched =>
  looks.reduce<Watched>((before, each, index) => watch(before, each, index * 1000), { state: 'unknown' });

describe('idleness', () => {
  test.each<[string, Look[], object]>([
    ['begins with the first look', [look([0, 0, 5])], { state: 'idle', forMs: 10_000 }],
    ['continues', [look([0, 0, 5]), look([0, 0, 5])], { state: 'idle', forMs: 10_000 }],
    ['begins anew after tokens', [look([0, 0, 5]), look([0, 0, 6])], { state: 'idle', forMs: 9_000 }],
    ['begins anew with another pod', [look([0, 0, 5]), look([0, 0, 5], [0, 0, 0])], { forMs: 9_000 }],
    ['ends with a request', [look([0, 0, 5]), look([1, 0, 5])], { state: 'busy' }],
    [
      'ends with a request that waits',
      [look([0, 0, 5], [0, 0, 0]), look([0, 0, 5], [0, 1, 0])],
      { state: 'busy' },
    ],
    ['ends with a pod that cannot be seen', [look([0, 0, 5]), unseen], { state: 'unseen' }],
    ['begins anew when it can', [look([0, 0, 5]), unseen, look([0, 0, 5])], { forMs: 8_000 }],
    ['is none without a pod', [look([0, 0, 5]), look()], { state: 'unknown' }],
  ])('%s', (_, looks, expected) => {
    expect(idlenessAt(after(...looks), 10_000)).toMatchObject(expected);
  });
});

const metrics = (change: Record<string, string> = {}): string =>
  Object.entries({
    'vllm:num_requests_running': '1.0',
    'vllm:num_requests_waiting': '2',
    'vllm:prompt_tokens_total': '1e3',
    'vllm:generation_tokens_total': '20.0',
    'vllm:request_success_total': '3',
    ...change,
  })
    .map(([name, value]) => `# TYPE ${name} gauge\n${name}{engine="0",model_name="a b}"} ${value}`)
    .join('\n');

describe('the text of /metrics', () => {
  test('says what runs, waits and was counted, over all series', () => {
    const more =
      'vllm:num_requests_running{engine="1"} 1\nvllm:request_success_total{finished_reason="stop"} 4\n';
    const activity = { running: 2, waiting: 2, counted: 1027, kvUsage: null };
    expect(parseActivity(`${metrics()}\n${more}`)).toEqual(activity);
  });
  test('reports the fullest KV cache, where it is reported', () => {
    const kv = [0.25, 0.5].map((share, engine) => `vllm:kv_cache_usage_perc{engine="${engine}"} ${share}\n`);
    expect(parseActivity(`${metrics()}\n${kv.join('')}`)).toMatchObject({ kvUsage: 0.5 });
  });
  test.each(['NaN', '+Inf', 'Infinity'])('reports no KV cache where one is %s', (share) => {
    const kv = `vllm:kv_cache_usage_perc{engine="0"} ${share}\nvllm:kv_cache_usage_perc{engine="1"} 0.5\n`;
    expect(parseActivity(`${metrics()}\n${kv}`)).toMatchObject({ running: 1, kvUsage: null });
  });
  test.each([
    '',
    '<html>',
    metrics({ 'vllm:num_requests_running': 'NaN' }),
    metrics().replace(/vllm:prompt.*/g, ''),
  ])('says nothing without all of it: %#', (text) => {
    expect(parseActivity(text)).toBeNull();
  });
});
