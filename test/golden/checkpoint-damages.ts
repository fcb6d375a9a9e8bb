// What goes wrong with checkpoints on their way: files cut or gone, fields changed, tensors missing, of other sides or types.
// Each damage changes a copy of a golden model in its folder.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitGguf, type ChangePart } from '../../checkpoint/src/formats/split-gguf.fixture.js';
import { readStoredFile, storedFile, type StoredTensor } from '../builders/stored-tensors.js';

export type Damage = (dir: string) => void;

const index = 'model.safetensors.index.json';

const write =
  (file: string, content: string | Uint8Array): Damage =>
  (dir) =>
    writeFileSync(join(dir, file), content);
const remove =
  (file: string): Damage =>
  (dir) =>
    rmSync(join(dir, file));

type Json = Readonly<Record<string, unknown>>;

function changeJson(path: string, change: (value: Json) => Json): void {
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')) as Json)));
}

/** At the top, and where multimodal releases have the language model's fields. */
const config =
  (change: (fields: Json) => Json): Damage =>
  (dir) =>
    changeJson(join(dir, 'config.json'), (top) => {
      const text = top['text_config'] as Json | undefined;
      return text === undefined ? change(top) : { ...change(top), text_config: change(text) };
    });
const fields = (changed: Json): Damage => config((object) => ({ ...object, ...changed }));
const oneMore = (field: string): Damage =>
  config((object) =>
    typeof object[field] === 'number' ? { ...object, [field]: object[field] + 1 } : object,
  );

const weightFiles = (dir: string): string[] =>
  readdirSync(dir)
    .filter((name) => /\.(safetensors|gguf)$/.test(name))
    .map((name) => join(dir, name));
const lastFile =
  (change: (bytes: Buffer) => Uint8Array): Damage =>
  (dir) => {
    const path = weightFiles(dir).at(-1)!;
    writeFileSync(path, change(readFileSync(path)));
  };

/** Null: the tensor goes. The index, where there is one, goes with it or not. */
const tensors =
  (matching: RegExp, change: (tensor: StoredTensor) => StoredTensor | null): Damage =>
  (dir) => {
    for (const path of weightFiles(dir)) {
      const changed = [...readStoredFile(path)].flatMap(([name, tensor]) => {
        const after = matching.test(name) ? change(tensor) : tensor;
        return after === null ? [] : [[name, after] as const];
      });
      writeFileSync(path, storedFile(new Map(changed)));
    }
  };
const inIndex =
  (change: (weightMap: Record<string, string>) => Json): Damage =>
  (dir) =>
    changeJson(join(dir, index), (value) => ({
      ...value,
      weight_map: change(value['weight_map'] as Record<string, string>),
    }));
const both =
  (...damages: readonly Damage[]): Damage =>
  (dir) =>
    damages.forEach((damage) => damage(dir));

/** The same values of another type, as far as a header shows. */
const typed =
  (dtype: string, bytes: number) =>
  ({ shape, data }: StoredTensor): StoredTensor => {
    const count = shape.reduce((product, side) => product * side, 1);
    return { dtype, shape, data: Buffer.concat([data], count * bytes) };
  };
const filled =
  (byte: number) =>
  ({ dtype, shape, data }: StoredTensor): StoredTensor => ({
    dtype,
    shape,
    data: Buffer.alloc(data.byteLength, byte),
  });
const longer = ({ dtype, shape, data }: StoredTensor): StoredTensor => {
  const [rows = 1, ...sides] = shape;
  const row = data.byteLength / rows;
  return { dtype, shape: [rows + 1, ...sides], data: Buffer.concat([data], data.byteLength + row) };
};
const without = (matching: RegExp): Damage => tensors(matching, () => null);
const unindexed = (matching: RegExp): Damage =>
  inIndex((map) => Object.fromEntries(Object.entries(map).filter(([name]) => !matching.test(name))));

/** Of any checkpoint in safetensors. */
export const anyDamages: Readonly<Record<string, Damage>> = {
  'without config.json': remove('config.json'),
  'with half a config.json': write('config.json', '{"model_type": "llama", '),
  'with a list as config.json': write('config.json', '[]'),
  'of an unknown architecture': fields({ model_type: 'mamba' }),
  'of no architecture': fields({ model_type: null }),
  'of another activation': fields({ hidden_act: 'gelu' }),
  'of an unknown quantization': fields({ quantization_config: { quant_method: 'hqq', bits: 4 } }),
  'of a width in text': fields({ hidden_size: '96' }),
  'of no width': fields({ hidden_size: null }),
  'of a rotary scaling that is not there': fields({ rope_parameters: { rope_type: 'longrope' } }),
  'of more layers than it has': oneMore('num_hidden_layers'),
  'of more tokens than it has': oneMore('vocab_size'),
  'of wider heads than it has': fields({ head_dim: 40 }),
  'without tokenizer.json': remove('tokenizer.json'),
  'whose last weight file is cut short': lastFile((bytes) => bytes.subarray(0, -2)),
  'whose last weight file is too long': lastFile((bytes) => Buffer.concat([bytes, Buffer.alloc(2)])),
  'whose last weight file is empty': lastFile(() => Buffer.alloc(0)),
  'whose last weight file is no such file': lastFile(() => Buffer.alloc(400, 0xff)),
  'whose last header is no header': lastFile((bytes) => {
    const end = 8 + Number(bytes.readBigUInt64LE(0));
    return Buffer.concat([bytes.subarray(0, 8), Buffer.alloc(end - 8, '[],'), bytes.subarray(end)]);
  }),
  'with a final norm that is too long': tensors(/^model\.(language_model\.)?norm\.weight$/, longer),
  'with a final norm in FP8': tensors(/^model\.(language_model\.)?norm\.weight$/, typed('F8_E4M3', 1)),
  'with embeddings in integers': tensors(/embed_tokens\.weight$/, typed('I32', 4)),
  'with embeddings of more rows': tensors(/embed_tokens\.weight$/, longer),
  'with a feed-forward of one type more': tensors(/\.up_proj\.weight$/, typed('F32', 4)),
  'with FP8 that has no scales': tensors(/\.down_proj\.weight$/, typed('F8_E4M3', 1)),
  'with four bits that have no scales': tensors(/\.o_proj\.weight$/, typed('U8', 1)),
};

/** Of one file. */
export const singleDamages: Readonly<Record<string, Damage>> = {
  'without its weight file': remove('model.safetensors'),
  'whose weight file has another name': (dir) => {
    writeFileSync(join(dir, 'weights.safetensors'), readFileSync(join(dir, 'model.safetensors')));
    rmSync(join(dir, 'model.safetensors'));
  },
  'without its final norm': without(/^model\.norm\.weight$/),
  'without a matrix of its last layer': without(/2\.mlp\.down_proj\.weight$/),
};

/** Of several files, with an index. */
export const shardedDamages: Readonly<Record<string, Damage>> = {
  'without its last weight file': (dir) => rmSync(weightFiles(dir).at(-1)!),
  'without all its weight files': (dir) => weightFiles(dir).forEach((path) => rmSync(path)),
  'without its index': remove(index),
  'with half an index': write(index, '{"weight_map": {'),
  'with an empty index': write(index, '{"weight_map": {}}'),
  'with an index that leads out of the folder': inIndex((map) => ({ ...map, x: '../x.safetensors' })),
  'with an index that names a missing file': inIndex((map) => ({ ...map, x: 'model-9.safetensors' })),
  'with an index that names a missing tensor': inIndex((map) => ({ ...map, x: Object.values(map)[0] })),
  'without a tensor of its index': without(/layers\.0\.input_layernorm\.weight$/),
  'without a tensor, in its index neither': both(
    without(/layers\.0\.input_layernorm\.weight$/),
    unindexed(/layers\.0\.input_layernorm\.weight$/),
  ),
};

const quantized = (changed: Json): Damage =>
  config((object) => ({
    ...object,
    quantization_config: { ...(object['quantization_config'] as Json), ...changed },
  }));

/** Of packed integers, by golden model. */
const packedDamages: readonly (readonly [model: string, what: string, damage: Damage])[] = [
  ['llama-gptq', 'without scales', without(/\.scales$/)],
  ['llama-gptq', 'without zero points', without(/\.qzeros$/)],
  ['llama-gptq', 'with more scales', tensors(/q_proj\.scales$/, longer)],
  ['llama-gptq', 'with more zero points', tensors(/k_proj\.qzeros$/, longer)],
  ['llama-gptq', 'with more groups', tensors(/k_proj\.g_idx$/, longer)],
  ['llama-gptq', 'with more words', tensors(/o_proj\.qweight$/, longer)],
  ['llama-gptq', 'with scales in F32', tensors(/q_proj\.scales$/, typed('F32', 4))],
  ['llama-gptq', 'with words of 64 bits', tensors(/q_proj\.qweight$/, typed('I64', 8))],
  ['llama-gptq', 'of three bits', quantized({ bits: 3 })],
  ['llama-gptq', 'of eight bits', quantized({ bits: 8 })],
  ['llama-gptq', 'in groups of 128', quantized({ group_size: 128 })],
  ['llama-gptq', 'in groups of 48', quantized({ group_size: 48 })],
  ['llama-gptq', 'by another rule', quantized({ dynamic: { '.*down_proj': { bits: 8 } } })],
  ['llama-gptq', 'in the order of another kernel', quantized({ checkpoint_format: 'marlin' })],
  ['qwen3-gptq-v2', 'without groups', without(/\.g_idx$/)],
  ['qwen3-gptq-v2', 'in one group', quantized({ group_size: -1 })],
  ['qwen2-awq', 'without zero points', without(/\.qzeros$/)],
  ['qwen2-awq', 'in the order of another kernel', quantized({ version: 'gemv' })],
  ['qwen3-w4a16', 'without scales', without(/\.weight_scale$/)],
  ['qwen3-w4a16', 'without zero points', without(/\.weight_zero_point$/)],
  ['qwen3-w4a16', 'of groups for other modules', quantized({ config_groups: {} })],
  ['llama-w8a8', 'without scales', without(/\.weight_scale$/)],
  ['llama-w8a8', 'with more scales', tensors(/q_proj\.weight_scale$/, longer)],
  [
    'llama-bf16',
    'that is said to be packed',
    fields({ quantization_config: { quant_method: 'gptq', bits: 4 } }),
  ],
];

/** Of what headers do not show: by golden model, with the tensor that is named. */
export const dataDamages: readonly (readonly [
  model: string,
  what: string,
  tensor: RegExp,
  damage: Damage,
])[] = [
  [
    'llama-gptq',
    'with zero points beyond the range',
    /q_proj\.qzeros/,
    tensors(/q_proj\.qzeros$/, filled(0xff)),
  ],
  ['llama-gptq', 'with columns of no group', /q_proj\.g_idx/, tensors(/q_proj\.g_idx$/, filled(0x7f))],
  ['llama-gptq', 'with columns of other groups', /q_proj\.g_idx/, tensors(/q_proj\.g_idx$/, filled(0))],
  ['qwen3-gptq-v2', 'with columns of no group', /q_proj\.g_idx/, tensors(/q_proj\.g_idx$/, filled(0x7f))],
  ['qwen3-gptq-v2', 'with columns of one group', /q_proj\.g_idx/, tensors(/q_proj\.g_idx$/, filled(0))],
  [
    'qwen3-fp8-ue8m0',
    'with scales that are no numbers',
    /q_proj\.weight_scale_inv/,
    tensors(/q_proj\.weight_scale_inv$/, filled(0xff)),
  ],
  [
    'llama-gptq',
    'with scales that are no numbers',
    /q_proj\.qweight/,
    tensors(/q_proj\.scales$/, filled(0xff)),
  ],
];

/** Of scales, by golden model. */
export const scaleDamages: readonly (readonly [model: string, what: string, damage: Damage])[] = [
  ...packedDamages,
  ['qwen3-fp8', 'without scales', without(/_scale_inv$/)],
  ['qwen3-fp8', 'with more scales', tensors(/q_proj\.weight_scale_inv$/, longer)],
  ['qwen3-fp8', 'with scales in integers', tensors(/q_proj\.weight_scale_inv$/, typed('I32', 4))],
  ['qwen3-fp8', 'of another kind', tensors(/q_proj\.weight$/, typed('F8_E5M2', 1))],
  ['qwen3-fp8', 'with scales of another kind', quantized({ scale_fmt: 'ue4m3' })],
  ['qwen3-fp8-ue8m0', 'with more scales', tensors(/q_proj\.weight_scale_inv$/, longer)],
  ['qwen3-fp8-ue8m0', 'with scales in bytes', tensors(/q_proj\.weight_scale_inv$/, typed('U8', 1))],
  ['qwen3-nvfp4', 'with scales that are exponents', tensors(/k_proj\.weight_scale$/, typed('F8_E8M0', 1))],
  ['llama-fp8-groups', 'with two types in what runs together', tensors(/k_proj\.weight$/, typed('BF16', 2))],
  ['qwen3-fp8', 'with scales of what is BF16', tensors(/q_proj\.weight$/, typed('BF16', 2))],
  ['mixtral-fp8-tensor', 'without scales', without(/weight_scale$/)],
  ['qwen3-nvfp4', 'without scales of its groups', without(/weight_scale$/)],
  ['qwen3-nvfp4', 'without its global scales', without(/weight_global_scale$/)],
  ['qwen3-nvfp4', 'with scales in F32', tensors(/k_proj\.weight_scale$/, typed('F32', 4))],
  ['llama-nvfp4-modelopt', 'without its global scales', without(/weight_scale_2$/)],
  ['gpt_oss-mxfp4', 'with more scales', tensors(/down_proj_scales$/, longer)],
  ['gpt_oss-mxfp4', 'with scales in F32', tensors(/gate_up_proj_scales$/, typed('F32', 4))],
  ['gpt_oss-mxfp4', 'with more codes', tensors(/down_proj_blocks$/, longer)],
  ['gpt_oss-mxfp4', 'with more sinks', tensors(/sinks$/, longer)],
  ['gpt_oss-mxfp4', 'with biases in FP8', tensors(/router\.bias$/, typed('F8_E4M3', 1))],
];

/** Of one GGUF file. */
export const ggufDamages: Readonly<Record<string, Damage>> = {
  'that is cut short': lastFile((bytes) => bytes.subarray(0, -100)),
  'that is cut in its header': lastFile((bytes) => bytes.subarray(0, 300)),
  'that is none': lastFile(() => Buffer.alloc(4096, 0x20)),
  'of an unknown architecture': lastFile((bytes) =>
    Buffer.from(bytes.toString('latin1').replace('llama', 'lxxma'), 'latin1'),
  ),
  'without tokenizer.json': remove('tokenizer.json'),
};

const part = (number: number): string => `m-0000${number}-of-00003.gguf`;
/** In place of the one file, in three parts. */
const split =
  (change?: ChangePart): Damage =>
  (dir) => {
    const whole = readFileSync(join(dir, 'model.gguf'));
    rmSync(join(dir, 'model.gguf'));
    const parts = splitGguf(whole, 'm', 3, change === undefined ? {} : { change });
    for (const [name, bytes] of Object.entries(parts)) writeFileSync(join(dir, name), bytes);
  };
const copied =
  (from: string, to: string): Damage =>
  (dir) =>
    writeFileSync(join(dir, to), readFileSync(join(dir, from)));

/** Of one GGUF file, which is split first. */
export const splitGgufDamages: Readonly<Record<string, Damage>> = {
  'without its second part': both(split(), remove(part(2))),
  'without its first part': both(split(), remove(part(1))),
  'whose last part is cut short': both(
    split(),
    lastFile((bytes) => bytes.subarray(0, -100)),
  ),
  'whose last part is a copy of the second': both(split(), copied(part(2), part(3))),
  'with a part of another count': split((each, at) => (at === 1 ? { ...each, count: 4 } : each)),
  'with a part of another set': split((each, at) => (at === 2 ? { ...each, tensorsCount: 99 } : each)),
  'with a tensor in two parts': split((each, at, tensors) =>
    at === 2 ? { ...each, tensors: [...each.tensors, tensors[0]!] } : each,
  ),
  'beside another whole file': both(copied('model.gguf', 'saved'), split(), copied('saved', 'other.gguf')),
  'under a name of no part': both(split(), copied(part(1), 'saved'), (dir) => {
    for (const path of weightFiles(dir)) rmSync(path);
    copied('saved', 'model.gguf')(dir);
  }),
};
