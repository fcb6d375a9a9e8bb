// Checkpoints that the operator refuses, each by its reason and a part of its message: as folders, and as GGUF files.

import type { FailureReason } from '@llmservice/crds';
import { ggufFile, llamaGguf } from '../../checkpoint/src/formats/gguf.fixture.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';

const shard = 'model-00002-of-00002.safetensors';
const files = llamaCheckpoint();
const cut = (file: Uint8Array | string | undefined) => Buffer.from(file ?? '').subarray(0, -2);

/** What of a good checkpoint is replaced, and what is removed. */
export const refusedCheckpoints: readonly [
  name: string,
  reason: FailureReason,
  replaced: Record<string, string | Uint8Array>,
  removed: string[],
  part: string,
][] = [
  ['unknown-model', 'UnsupportedArchitecture', { 'config.json': '{"model_type":"mamba"}' }, [], '"mamba"'],
  [
    'bitsandbytes',
    'UnsupportedQuantization',
    llamaCheckpoint({ quantization_config: { quant_method: 'bitsandbytes' } }),
    [],
    '"bitsandbytes"',
  ],
  ['no-config', 'ModelNotFound', {}, ['config.json'], 'config.json'],
  ['no-tokenizer', 'TokenizerMissing', {}, ['tokenizer.json'], 'tokenizer.json'],
  [
    'mistral',
    'TokenizerMissing',
    { 'tekken.json': '{}' },
    ['tokenizer.json'],
    'but a tekken.json, which is not read',
  ],
  ['missing-shard', 'CheckpointIncomplete', {}, [shard], shard],
  ['cut-shard', 'CheckpointIncomplete', { [shard]: cut(files[shard]) }, [], 'cut short'],
  ['bad-header', 'CheckpointCorrupt', { [shard]: Buffer.alloc(400, 0xff) }, [], shard],
  ['bad-config', 'CheckpointCorrupt', { 'config.json': '{' }, [], 'config.json is not JSON'],
  ['empty-shard', 'CheckpointCorrupt', { [shard]: '' }, [], shard],
  [
    'no-tensor',
    'CheckpointIncomplete',
    llamaCheckpoint({ num_hidden_layers: 3 }),
    [],
    'no tensor model.layers.2.input_layernorm.weight',
  ],
  [
    'odd-tensor',
    'CheckpointCorrupt',
    llamaCheckpoint({ vocab_size: 255 }),
    [],
    'model.embed_tokens.weight has shape [256, 64] where config.json implies [255, 64]',
  ],
];

export const wholeGguf = ggufFile(llamaGguf());
const { keys, tensors } = llamaGguf();
export const ggufWithoutTokenizer = ggufFile({
  keys: Object.fromEntries(Object.entries(keys).filter(([key]) => !key.startsWith('tokenizer.'))),
  tensors,
});
export const ggufName = 'llama.gguf';

/** With settings of the engine, and the condition that is false. */
export const refusedGgufs: readonly [
  name: string,
  condition: string,
  reason: FailureReason,
  file: Uint8Array,
  engine: object,
  part: string,
][] = [
  ['gguf-cut', 'ModelResolved', 'CheckpointCorrupt', wholeGguf.subarray(0, -100), {}, 'reaches byte'],
  ['gguf-cut-early', 'ModelResolved', 'CheckpointCorrupt', wholeGguf.subarray(0, 300), {}, ggufName],
  ['gguf-not-one', 'ModelResolved', 'CheckpointCorrupt', Buffer.alloc(4096, 0x20), {}, ggufName],
  ['gguf-silent', 'ModelResolved', 'TokenizerMissing', ggufWithoutTokenizer, {}, 'tokenizer.json beside'],
  [
    'gguf-gemma',
    'ModelResolved',
    'UnsupportedArchitecture',
    ggufFile(llamaGguf({ keys: { 'general.architecture': 'gemma' } })),
    {},
    'gemma',
  ],
  [
    'gguf-mtp',
    'ModelResolved',
    'InvalidEngineConfig',
    wholeGguf,
    { speculative: { method: 'mtp' } },
    'engine.speculative.method',
  ],
  [
    'gguf-long',
    'Fits',
    'KvCacheTooSmall',
    ggufFile(llamaGguf({ keys: { 'llama.context_length': 16_000_000 } })),
    { maxModelLen: 16_000_000 },
    'the longest that does is',
  ],
  ['gguf-wide', 'Fits', 'ModelTooLarge', wholeGguf, { maxNumBatchedTokens: 1_048_576 }, 'workspace'],
];
