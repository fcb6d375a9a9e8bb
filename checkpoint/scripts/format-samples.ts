// A matrix (1024, 2048) as each tool stores it in safetensors: what is read, and what is refused. What becomes of it the
// checkpoint code says.

/** Name behind `MODULE.`, type and sides of each tensor of the matrix. */
type Parts = readonly (readonly [suffix: string, dtype: string, ...sides: number[]])[];

export interface Sample {
  /** For the page. */
  readonly stored: string;
  readonly parts: Parts;
  /** quantization_config; absent: none. */
  readonly config?: object;
  readonly architecture?: 'gpt_oss';
}

export interface StoredSample extends Sample {
  readonly tensors: string;
  readonly tools: string;
}

export interface RefusedSample extends Sample {
  readonly why: string;
}

/** Of the matrix. */
export const [rows, cols] = [1024, 2048];
const blocks = [rows / 128, cols / 128] as const;
const e4m3 = ['weight', 'F8_E4M3', rows, cols] as const;
const fp8 = { quant_method: 'fp8' };

function compressed(weights: object, format: string): object {
  return {
    quant_method: 'compressed-tensors',
    format,
    config_groups: { group_0: { targets: ['Linear'], weights } },
  };
}

const integers = (bits: number, more: object): object => ({
  num_bits: bits,
  type: 'int',
  symmetric: true,
  ...more,
});
const quark = (weight: object): object => ({ quant_method: 'quark', global_quant_config: { weight } });

export const storedSamples: readonly StoredSample[] = [
  { stored: 'BF16', tensors: '`weight`', tools: 'every tool', parts: [['weight', 'BF16', rows, cols]] },
  { stored: 'F16', tensors: '`weight`', tools: 'every tool', parts: [['weight', 'F16', rows, cols]] },
  {
    stored: 'F32, rounded, or kept by `engine.dtype: float32`',
    tensors: '`weight`',
    tools: 'every tool',
    parts: [['weight', 'F32', rows, cols]],
  },
  {
    stored: 'FP8 e4m3, 128x128 blocks',
    tensors:
      '`weight`, `weight_scale_inv` or `weight_scale` (⌈N/128⌉, ⌈K/128⌉) in F32, BF16, F16 or F8_E8M0 (`scale_fmt: ue8m0`)',
    tools: '`fp8`, `compressed-tensors`',
    parts: [e4m3, ['weight_scale_inv', 'F8_E8M0', ...blocks]],
    config: { ...fp8, scale_fmt: 'ue8m0' },
  },
  {
    stored: 'FP8 e4m3, per channel',
    tensors: '`weight`, `weight_scale` (N, 1) or (N)',
    tools: '`compressed-tensors`, `quark`',
    parts: [e4m3, ['weight_scale', 'F32', rows]],
    config: quark({ dtype: 'fp8_e4m3', qscheme: 'per_channel', ch_axis: 0 }),
  },
  {
    stored: 'FP8 e4m3, per tensor',
    tensors: '`weight`, `weight_scale` ([] or [1])',
    tools: '`fp8`, `compressed-tensors`, `modelopt`, `quark`',
    parts: [e4m3, ['weight_scale', 'F32']],
    config: { quant_method: 'modelopt', quant_algo: 'FP8' },
  },
  {
    stored: '[FP8 e4m3fnuz](#fp8-of-amd), scales as above',
    tensors: '`weight` F8_E4M3FNUZ',
    tools: '`fp8`, `quark`',
    parts: [
      ['weight', 'F8_E4M3FNUZ', rows, cols],
      ['weight_scale', 'F32'],
    ],
    config: { ...fp8, fmt: 'e4m3fnuz' },
  },
  {
    stored: 'NVFP4',
    tensors:
      '`weight_packed` U8 (N, K/2), `weight_scale` e4m3 (N, K/16), `weight_global_scale` F32, which divides',
    tools: '`compressed-tensors`',
    parts: [
      ['weight_packed', 'U8', rows, cols / 2],
      ['weight_scale', 'F8_E4M3', rows, cols / 16],
      ['weight_global_scale', 'F32', 1],
    ],
    config: compressed(
      { num_bits: 4, type: 'float', strategy: 'tensor_group', group_size: 16 },
      'nvfp4-pack-quantized',
    ),
  },
  {
    stored: 'NVFP4',
    tensors: '`weight` U8 (N, K/2), `weight_scale` e4m3 (N, K/16), `weight_scale_2` F32, which multiplies',
    tools: '`modelopt`',
    parts: [
      ['weight', 'U8', rows, cols / 2],
      ['weight_scale', 'F8_E4M3', rows, cols / 16],
      ['weight_scale_2', 'F32'],
    ],
    config: { quant_method: 'modelopt', quant_algo: 'NVFP4' },
  },
  {
    stored: 'MXFP4',
    tensors: '`weight_packed` U8 (N, K/2), `weight_scale` U8 (N, K/32), powers of two',
    tools: '`compressed-tensors`',
    parts: [
      ['weight_packed', 'U8', rows, cols / 2],
      ['weight_scale', 'U8', rows, cols / 32],
    ],
    config: compressed(
      { num_bits: 4, type: 'float', strategy: 'group', group_size: 32 },
      'mxfp4-pack-quantized',
    ),
  },
  {
    stored: 'MXFP4',
    tensors: '`weight` U8 (N, K/2), `weight_scale` U8 (N, K/32), powers of two',
    tools: '`quark`',
    parts: [
      ['weight', 'U8', rows, cols / 2],
      ['weight_scale', 'U8', rows, cols / 32],
    ],
    config: quark({ dtype: 'fp4', qscheme: 'per_group', group_size: 32, scale_format: 'e8m0' }),
  },
  {
    stored: 'MXFP4, experts of `gpt_oss`',
    tensors:
      '`gate_up_proj_blocks`, `down_proj_blocks` U8 (E, N, K/32, 16), `_scales` U8 (E, N, K/32), powers of two',
    tools: 'OpenAI',
    architecture: 'gpt_oss',
    parts: [
      ['_blocks', 'U8', 1, rows, cols / 32, 16],
      ['_scales', 'U8', 1, rows, cols / 32],
    ],
    config: { quant_method: 'mxfp4' },
  },
  {
    stored: 'GPTQ, 4 bits',
    tensors: '`qweight` I32 (K/8, N), `scales` (K/group, N), `qzeros`, `g_idx`',
    tools: '`gptq`',
    parts: gptq(4),
    config: { quant_method: 'gptq', bits: 4, group_size: 128 },
  },
  {
    stored: 'GPTQ, 8 bits',
    tensors: '`qweight` I32 (K/4, N), and the same',
    tools: '`gptq`',
    parts: gptq(8),
    config: { quant_method: 'gptq', bits: 8, group_size: 128 },
  },
  {
    stored: 'AWQ, 4 bits, `gemm`',
    tensors: '`qweight` I32 (K, N/8), `scales` (K/group, N), `qzeros`',
    tools: '`awq`',
    parts: [
      ['qweight', 'I32', cols, rows / 8],
      ['qzeros', 'I32', cols / 128, rows / 8],
      ['scales', 'F16', cols / 128, rows],
    ],
    config: { quant_method: 'awq', bits: 4, group_size: 128, version: 'gemm' },
  },
  {
    stored: 'packed integers of 4 bits',
    tensors:
      '`weight_packed` I32 (N, K/8), `weight_scale` (N, K/group), `weight_zero_point` where not symmetric',
    tools: '`compressed-tensors`',
    parts: [
      ['weight_packed', 'I32', rows, cols / 8],
      ['weight_scale', 'BF16', rows, cols / 128],
    ],
    config: compressed(integers(4, { strategy: 'group', group_size: 128 }), 'pack-quantized'),
  },
  {
    stored: 'packed integers of 8 bits',
    tensors: '`weight_packed` I32 (N, K/4), and the same',
    tools: '`compressed-tensors`',
    parts: [
      ['weight_packed', 'I32', rows, cols / 4],
      ['weight_scale', 'BF16', rows, cols / 128],
    ],
    config: compressed(integers(8, { strategy: 'group', group_size: 128 }), 'pack-quantized'),
  },
  {
    stored: 'integers in bytes (W8A8)',
    tensors: '`weight` I8, `weight_scale` (N, 1)',
    tools: '`compressed-tensors`',
    parts: [
      ['weight', 'I8', rows, cols],
      ['weight_scale', 'BF16', rows, 1],
    ],
    config: compressed(integers(8, { strategy: 'channel' }), 'int-quantized'),
  },
  {
    stored: 'integers in bytes, in groups or with zero points',
    tensors: '`weight` I8, `weight_scale` (N, K/group), `weight_zero_point`',
    tools: '`compressed-tensors`',
    parts: [
      ['weight', 'I8', rows, cols],
      ['weight_scale', 'BF16', rows, cols / 128],
    ],
    config: compressed(integers(8, { strategy: 'group', group_size: 128 }), 'int-quantized'),
  },
];

function gptq(bits: number): Parts {
  return [
    ['qweight', 'I32', (cols * bits) / 32, rows],
    ['qzeros', 'I32', cols / 128, (rows * bits) / 32],
    ['scales', 'F16', cols / 128, rows],
    ['g_idx', 'I32', cols],
  ];
}

export const refusedSamples: readonly RefusedSample[] = [
  {
    stored: 'FP8 in e5m2 (F8_E5M2)',
    why: 'two bits of mantissa: made for gradients',
    parts: [
      ['weight', 'F8_E5M2', rows, cols],
      ['weight_scale', 'F32'],
    ],
    config: fp8,
  },
  {
    stored: 'FP8 in other blocks than 128x128',
    why: 'no kernel has other blocks',
    parts: [e4m3, ['weight_scale_inv', 'F32', rows / 64, cols / 64]],
    config: { ...fp8, weight_block_size: [64, 64] },
  },
  {
    stored: 'FP8 without its scale',
    why: 'codes alone are no weights',
    parts: [e4m3],
    config: fp8,
  },
  {
    stored: 'a scale of an unquantized matrix',
    why: 'one of the two was replaced without the other',
    parts: [
      ['weight', 'BF16', rows, cols],
      ['weight_scale', 'F32'],
    ],
    config: fp8,
  },
  {
    stored: 'integers of `quark` (`int4`, `int8`, ...)',
    why: 'their order in words is not read: export FP8 or MXFP4',
    parts: [['weight', 'I32', rows, cols / 8]],
    config: quark({ dtype: 'int4', qscheme: 'per_group', group_size: 128 }),
  },
  {
    stored: 'NVFP4, and FP8 over INT4, of `quark`, which have two entries for weights',
    why: 'not read: `modelopt` and `compressed-tensors` write NVFP4 that is',
    parts: [['weight', 'U8', rows, cols / 2]],
    config: quark([{ dtype: 'fp4', qscheme: 'per_group', group_size: 16 }, { dtype: 'fp8_e4m3' }]),
  },
  {
    stored: '`quark` with rotations of activations (`algo_config`: `online_r1_rotation`, `r3`, `r4`)',
    why: 'the engine rotates nothing: export without them',
    parts: [e4m3, ['weight_scale', 'F32']],
    config: {
      ...quark({ dtype: 'fp8_e4m3', qscheme: 'per_tensor' }),
      algo_config: [{ name: 'rotation', r3: true }],
    },
  },
  {
    stored: '`mxfp4` of another architecture than `gpt_oss`',
    why: 'nothing says in which order its axes and codes are',
    parts: [['weight', 'U8', rows, cols / 2]],
    config: { quant_method: 'mxfp4' },
  },
  {
    stored: 'INT4 of `modelopt` (`W4A16_AWQ`)',
    why: 'its order is not read: use `awq` or `gptq`',
    parts: [['weight', 'U8', rows / 2, cols]],
    config: { quant_method: 'modelopt', quant_algo: 'W4A16_AWQ' },
  },
  {
    stored: 'bitsandbytes, hqq, torchao and other tools',
    why: 'not read: convert to a format of the tables',
    parts: [['weight', 'U8', rows, cols / 2]],
    config: { quant_method: 'bitsandbytes' },
  },
];
