// Lines as vLLM 0.32 printed them on a machine without a device, or as its source has them where it takes one.

import { expect, test } from '@jest/globals';
import { failureKinds, type FailureReason } from '@llmservice/crds';
import { readVllmLog } from './vllm-failure.js';

const engineCore = '(EngineCore pid=71) ERROR 11-22 11:13:49 [core.py:1309] ';
const worker = '(EngineCore pid=71) (VllmWorker-0 pid=90) ERROR 11-22 11:15:48 [multiproc_executor.py:953] ';
const last =
  "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}";

test.each<[FailureReason, string, string]>([
  [
    'KvCacheTooSmall',
    `${engineCore}ValueError: To serve at least one request with the model's max seq len (32768), (4.0 GiB KV cache is ` +
      'needed, which is larger than the available KV cache memory (1.0 GiB). Based on the available memory, the ' +
      'estimated maximum model length is 8192. Try increasing `gpu_memory_utilization`',
    'the longest that fits is 8192',
  ],
  [
    'ModelTooLarge',
    `${engineCore}ValueError: No available memory for the cache blocks. Try`,
    'No available memory',
  ],
  [
    'DeviceMemoryTaken',
    `${worker}ValueError: Free memory on device cuda:0 (10.0/80.0 GiB) on startup is less than desired GPU memory utilization (0.85, 68.0 GiB).`,
    'Free memory on device cuda:0 (10.0/80.0 GiB)',
  ],
  [
    'DeviceOutOfMemory',
    `${worker}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.`,
    'Tried to allocate 2.00 GiB',
  ],
  [
    'UnsupportedByEngine',
    "  Value error, Model architectures ['Gemma9ForCausalLM'] are not supported for now. Supported architectures: dict_keys(['A'])",
    "vLLM: Model architectures ['Gemma9ForCausalLM'] are not supported for now.",
  ],
  [
    'UnsupportedByEngine',
    '(APIServer pid=6) ERROR 11-22 11:13:19 [repo_utils.py:126] Error parsing config for /m: The checkpoint you are ' +
      'trying to load has model type `gemma9` but Transformers does not recognize this architecture.',
    '`gemma9`',
  ],
  [
    'ParallelismInvalid',
    '  Value error, Total number of attention heads (6) must be divisible by tensor parallel size (4).',
    'values that work: 1, 2, 3, 6',
  ],
  [
    'CheckpointCorrupt',
    `${worker}safetensors._safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata`,
    'incomplete metadata',
  ],
  [
    'InvalidEngineConfig',
    '  Value error, User-specified max_model_len (4096) is greater than the derived max_model_len (1024)',
    'vLLM: User-specified max_model_len (4096)',
  ],
  ['InvalidEngineConfig', "KeyError: 'invalid tool call parser: nope (chose from { hermes })'", 'nope'],
  ['InvalidEngineConfig', 'vllm: error: unrecognized arguments: --nonsense', '--nonsense'],
  ['Crashed', `${worker}AssertionError: of a kind that nobody foresaw`, 'of a kind that nobody foresaw'],
])('%s is read above the lines of who waited for it', (reason, line, part) => {
  const log = [
    'INFO 11-22 11:13:40 [utils.py:300] version 0.32.0',
    line,
    'Traceback (most recent call last):',
    last,
  ];
  const failure = readVllmLog(log.join('\n'));
  expect(failure?.reason).toBe(reason);
  expect(failure?.message).toContain(part);
  expect(Object.hasOwn(failureKinds, reason)).toBe(true);
});

test('a long list is cut', () => {
  const failure = readVllmLog(
    `KeyError: 'invalid tool call parser: x (chose from ${'parser,'.repeat(1000)})'`,
  );
  expect(failure?.message.length).toBeLessThan(700);
});

test.each(['Model architecture ', 'quantization method ', 'max seq len (1) '])(
  'a line of nothing but "%s" is soon given up',
  (part) => {
    const startedAt = performance.now();
    const failure = readVllmLog(part.repeat(2 ** 20 / part.length));
    // Not cut, it takes half a minute and more; cut, milliseconds.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(failure?.message.length ?? 0).toBeLessThan(700);
  },
);

test('what names no cause is left to the end of the log', () => {
  expect(readVllmLog(last)).toBeNull();
  expect(readVllmLog('Killed')).toBeNull();
});

test('numbers of a log take neither memory nor time', () => {
  const heads = (count: string) =>
    readVllmLog(`Total number of attention heads (${count}) must be divisible by tensor parallel size (4).`);
  expect(heads('9999')?.message).toContain('9999');
  for (const count of ['99999', '999999999', '9'.repeat(400)]) expect(heads(count)).toBeNull();
});
