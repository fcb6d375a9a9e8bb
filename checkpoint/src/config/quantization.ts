// What config.json says of quantization, and quantization at load: which formats the engine runs, and which matrices
// it may quantize itself. How a matrix is stored, its tensors say.

import { FailureError } from '@llmservice/crds';
import { parsePacking } from './packed-integers.js';
import { quarkKinds } from './quark.js';

/** Of the checkpoint's matrices. none: BF16, F16, F32. fp8: e4m3, scaled by tensor, row or 128x128. mxfp4: with a power of two by 32 columns. gguf: blocks. integers: packed. */
export type Quantization = 'none' | 'fp8' | 'nvfp4' | 'mxfp4' | 'gguf' | 'integers';

/** `engine.quantization`: what unquantized matrices become while they load. */
export type LoadQuantization = 'none' | 'fp8' | 'int8';

type Json = Readonly<Record<string, unknown>>;

const supported =
  'supported: unquantized matrices (BF16, F16, F32), FP8 e4m3 (one scale per tensor, row or 128x128 block) and NVFP4, ' +
  'as fp8, compressed-tensors, modelopt and quark checkpoints hold them, MXFP4 of gpt_oss, quark and compressed-tensors, and ' +
  'integers of 4 and 8 bits of gptq, awq and compressed-tensors';

/** @throws FailureError UnsupportedQuantization */
export function parseQuantization(top: Json): Quantization {
  const config = top['quantization_config'] ?? top['compression_config'];
  if (config === undefined || config === null) return 'none';
  const declared: Json = isObject(config) ? config : {};
  switch (declared['quant_method']) {
    case 'fp8':
      return parseFp8(declared);
    case 'mxfp4':
      return parseMxfp4(top);
    case 'compressed-tensors':
      return parseCompressedTensors(declared);
    case 'gptq':
    case 'awq':
      parsePacking(declared);
      return 'integers';
    case 'modelopt':
    case 'modelopt_fp4':
      return parseModelopt(declared);
    case 'quark':
      return parseQuark(declared);
    default:
      throw unsupported(`quantization_config has quant_method ${quote(declared['quant_method'])}`);
  }
}

/**
 * Checks that the checkpoint's matrices may become what `engine.quantization` asks for.
 * @throws FailureError InvalidEngineConfig
 */
export function checkLoadQuantization(stored: Quantization, atLoad: LoadQuantization): void {
  // Asking for what the checkpoint is already changes nothing.
  if (atLoad === 'none' || stored === 'none' || stored === atLoad) return;
  throw new FailureError(
    'InvalidEngineConfig',
    `engine.quantization is ${atLoad}, but the checkpoint is already quantized, to ${stored}; ` +
      'leave engine.quantization at none, or use the unquantized checkpoint',
  );
}

/** Small, or too sensitive: tables, routers, the inputs of gates, and what joins the inputs of drafters. */
const neverQuantized = new Set([
  'embed_tokens',
  'embed_tokens_per_layer',
  'embed_positions',
  'embed_types',
  'per_layer_model_projection',
  'per_layer_input_gate',
  'per_layer_projection',
  'lm_head',
  'gate',
  'shared_expert_gate',
  'in_proj_a',
  'in_proj_b',
  'in_proj_ba',
  'fc',
  'fusion',
]);

/** Whether quantization at load takes the matrix of `module`. */
export function isQuantizedAtLoad(module: string): boolean {
  return !neverQuantized.has(module.slice(module.lastIndexOf('.') + 1));
}

function parseFp8(config: Json): Quantization {
  const { fmt, weight_block_size: block, scale_fmt: scales } = config;
  const blockIs128 = block === undefined || block === null || isBlock128(block);
  // Powers of two are scales like others, which their tensors' type shows.
  const scalesAreKnown = [undefined, null, 'float', 'ue8m0'].includes(scales as string | null | undefined);
  if (blockIs128 && scalesAreKnown && [undefined, 'e4m3', 'e4m3fnuz'].includes(fmt as string | undefined))
    return 'fp8';
  throw unsupported(
    `fp8 with fmt ${quote(fmt)}, weight_block_size ${quote(block)}, scale_fmt ${quote(scales)}`,
  );
}

/** Which axis is coded, and in which order, is known of one architecture. */
function parseMxfp4({ model_type: type }: Json): Quantization {
  if (type === 'gpt_oss') return 'mxfp4';
  throw unsupported(`quantization_config has quant_method "mxfp4" for model_type ${quote(type)}`);
}

function parseCompressedTensors(config: Json): Quantization {
  const groups = isObject(config['config_groups']) ? config['config_groups'] : {};
  const kinds = Object.entries(groups).map(([name, group]) => {
    const weights = isObject(group) ? group['weights'] : undefined;
    const kind = isObject(weights) ? kindOfGroup(weights) : null;
    if (kind === null) throw unsupported(`config_groups.${name} has weights ${quote(weights)}`);
    return kind;
  });
  if (kinds.includes('integers')) parsePacking(config);
  return (['integers', 'nvfp4', 'mxfp4'] as const).find((kind) => kinds.includes(kind)) ?? 'fp8';
}

function kindOfGroup(weights: Json): Quantization | null {
  const { type, num_bits: bits, strategy, group_size: group, block_structure: block, symmetric } = weights;
  if (type === 'int') return 'integers';
  if (type !== 'float' || symmetric === false) return null;
  if (bits === 4 && group === 16 && (strategy === 'tensor_group' || strategy === 'group')) return 'nvfp4';
  if (bits === 4 && group === 32 && strategy === 'group') return 'mxfp4';
  if (bits !== 8) return null;
  const blockIs128 = strategy === 'block' && (block === undefined || isBlock128(block));
  return strategy === 'tensor' || strategy === 'channel' || blockIs128 ? 'fp8' : null;
}

function parseModelopt(config: Json): Quantization {
  const { quant_algo: algorithm, quantized_layers: layers } = config;
  if (algorithm !== 'MIXED_PRECISION' || !isObject(layers)) return kindOfAlgorithm(config, 'modelopt');
  const kinds = Object.entries(layers).map(([module, layer]) =>
    kindOfAlgorithm(isObject(layer) ? layer : {}, `quantized_layers.${module}`),
  );
  return kinds.includes('nvfp4') ? 'nvfp4' : 'fp8';
}

/** Weights of some modules only, or none: those of activations alone are as they were. */
function parseQuark(config: Json): Quantization {
  const kinds = quarkKinds(config, unsupported);
  return (['mxfp4', 'fp8'] as const).find((kind) => kinds.includes(kind)) ?? 'none';
}

/** NVFP4 with activations in 4 or in 16 bits, which is not about weights, or FP8. */
function kindOfAlgorithm({ quant_algo: algorithm }: Json, where: string): Quantization {
  if (algorithm === 'FP8') return 'fp8';
  if (algorithm === 'NVFP4' || algorithm === 'W4A16_NVFP4') return 'nvfp4';
  throw unsupported(`${where} with quant_algo ${quote(algorithm)}`);
}

function isBlock128(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((side) => side === 128);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quote(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value).slice(0, 120);
}

function unsupported(found: string): FailureError {
  return new FailureError('UnsupportedQuantization', `${found}; ${supported}`);
}
