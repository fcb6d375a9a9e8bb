import { describe, expect, test } from '@jest/globals';
import { planVllmArgs } from './vllm-args.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';

const model = { uri: 's3://bucket/folder/' };
const device = { resourceName: 'nvidia.com/gpu' };

function args(spec: Readonly<Record<string, object>> = {}): string[] {
  const engine = { runtime: 'vllm', ...spec.engine };
  return planVllmArgs(wantedService({ model, accelerator: device, ...spec, engine }));
}

test('of the smallest manifest', () => {
  expect(args().join(' ')).toBe(
    '/var/lib/llmservice/models/checkpoint --port 8080 --served-model-name demo --tensor-parallel-size 1 ' +
      '--max-model-len auto --gpu-memory-utilization 0.85 --max-num-seqs 64 --max-num-batched-tokens 2048 ' +
      '--dtype auto --kv-cache-dtype auto --enable-prefix-caching --shutdown-timeout 120 ' +
      '--disable-access-log-for-endpoints /health,/metrics',
  );
});

test.each<[string, Readonly<Record<string, object>>, string]>([
  ['names', { model: { ...model, name: 'big', aliases: ['a', 'b'] } }, '--served-model-name big a b '],
  ['devices', { accelerator: { ...device, devices: 4 } }, '--tensor-parallel-size 4 '],
  ['context', { engine: { maxModelLen: 32768 } }, '--max-model-len 32768 '],
  ['share of memory', { engine: { memoryUtilizationPercent: 90 } }, '--gpu-memory-utilization 0.9 '],
  ['sequences', { engine: { maxNumSeqs: 8 } }, '--max-num-seqs 8 '],
  ['tokens of a step', { engine: { maxNumBatchedTokens: 32768 } }, '--max-num-batched-tokens 32768 '],
  ['block size', { engine: { blockSize: 16 } }, '--block-size 16 '],
  ['type', { engine: { dtype: 'bfloat16' } }, '--dtype bfloat16 '],
  ['type of the cache', { engine: { kvCacheDtype: 'fp8' } }, '--kv-cache-dtype fp8 '],
  ['no prefix cache', { engine: { prefixCaching: false } }, '--no-enable-prefix-caching '],
  ['quantization', { engine: { quantization: 'fp8' } }, '--quantization fp8 '],
  [
    'speculation',
    { engine: { speculative: { method: 'mtp', tokens: 2 } } },
    '--speculative-config {"method":"mtp","num_speculative_tokens":2} ',
  ],
  ['reasoning', { engine: { reasoningParser: 'qwen3' } }, '--reasoning-parser qwen3 '],
  ['tools', { engine: { toolCallParser: 'hermes' } }, '--enable-auto-tool-choice --tool-call-parser hermes '],
  ['sums by NCCL', { engine: { collectives: 'library' } }, '--disable-custom-all-reduce '],
  ['drain', { rollout: { drainTimeoutSeconds: 30 } }, '--shutdown-timeout 30 '],
  [
    'variables of the reference deployment',
    { env: [{ name: 'MAX_NUM_SEQS', value: '7' }] },
    '--max-num-seqs 7 ',
  ],
])('%s', (_, spec, part) => {
  expect(`${args(spec).join(' ')} `).toContain(part);
});

describe("the user's own", () => {
  test('come last, since vLLM takes the last of an option', () => {
    const own = ['--enable-expert-parallel', '--max-num-seqs', '3'];
    expect(args({ engine: { args: own } }).slice(-3)).toEqual(own);
  });
});

describe('on the CPU', () => {
  test('the cache is bounded where the container has no limit that vLLM could read', () => {
    const cpu = { accelerator: {} };
    expect(args(cpu).join(' ')).toContain('--kv-cache-memory-bytes 4294967296');
    expect(args({ ...cpu, resources: { limits: { memory: '32Gi' } } })).not.toContain(
      '--kv-cache-memory-bytes',
    );
  });
});
