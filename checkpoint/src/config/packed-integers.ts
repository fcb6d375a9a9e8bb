// What config.json says of integers that are packed into words: by GPTQ, AWQ or compressed-tensors, with scales and zero points of
// groups of columns. What is not read is refused by the name of its field.

import { FailureError } from '@llmservice/crds';
import { type ConfigObject, isObject, quote } from './config-fields.js';

/** How the integers of some modules are packed. */
export interface PackedGroup {
  /** Modules that it is for, as compressed-tensors names them; null: all. */
  readonly targets: readonly string[] | null;
  readonly bits: 4 | 8;
  /** Columns that share a scale and a zero point; null: all of a row. */
  readonly groupColumns: number | null;
  /** False: zero points are half the range. */
  readonly hasZeros: boolean;
  /** Columns lie in any order, and a tensor says of which group each is. */
  readonly reordered: boolean;
}

export interface Packing {
  readonly tool: 'gptq' | 'awq' | 'compressed-tensors';
  readonly groups: readonly PackedGroup[];
  /** What is added to stored zero points: GPTQ's first format stores them less one. */
  readonly zeroOffset: 0 | 1;
}

/** Of blocks in memory, which share a scale. */
const blockColumns = 32;

const orders: readonly unknown[] = [null, 'weight', 'static', 'group', 'dynamic'];

/** Null where config.json declares nothing of the kind. @throws FailureError UnsupportedQuantization */
export function parsePacking(config: ConfigObject): Packing | null {
  switch (config['quant_method']) {
    case 'gptq':
      return parseGptq(config);
    case 'awq':
      return parseAwq(config);
    case 'compressed-tensors':
      return parseCompressed(config);
    default:
      return null;
  }
}

function parseGptq(config: ConfigObject): Packing {
  const format = config['checkpoint_format'] ?? config['format'] ?? 'gptq';
  if (format !== 'gptq' && format !== 'gptq_v2') {
    throw unsupported(`gptq with checkpoint_format ${quote(format)}; supported: gptq, gptq_v2`);
  }
  expectField(config, 'pack_dtype', ['int32']);
  expectField(config, 'lm_head', [false]);
  expectField(config, 'is_marlin_format', [false]);
  expectField(config, 'desc_act', [true, false]);
  expectField(config, 'static_groups', [true, false]);
  expectField(config, 'sym', [true, false]);
  checkDynamic(config['dynamic']);
  const groupColumns = groupOf('gptq with group_size', config['group_size'] ?? -1);
  const reordered = config['desc_act'] === true;
  if (reordered && groupColumns === null) {
    throw unsupported(
      'gptq with desc_act true and group_size -1; expected groups of columns, or desc_act false',
    );
  }
  return {
    tool: 'gptq',
    groups: [
      {
        targets: null,
        bits: bitsOf('gptq with bits', config['bits'], [4, 8]),
        groupColumns,
        hasZeros: true,
        reordered,
      },
    ],
    zeroOffset: format === 'gptq' ? 1 : 0,
  };
}

/** Rules that leave modules alone are read (left-alone.ts); those that quantize some otherwise are not. */
function checkDynamic(rules: unknown): void {
  if (rules === undefined || rules === null) return;
  if (!isObject(rules)) throw unsupported(`gptq with dynamic ${quote(rules)}`);
  const other = Object.keys(rules).find((rule) => !rule.startsWith('-:'));
  if (other === undefined) return;
  throw unsupported(
    `gptq with a rule in dynamic, ${quote(other)}, that is not one to leave modules alone ("-:...")`,
  );
}

function parseAwq(config: ConfigObject): Packing {
  const version = config['version'] ?? 'gemm';
  if (typeof version !== 'string' || version.toLowerCase() !== 'gemm') {
    throw unsupported(`awq with version ${quote(version)}; supported: gemm`);
  }
  expectField(config, 'zero_point', [true]);
  expectField(config, 'backend', ['autoawq']);
  return {
    tool: 'awq',
    groups: [
      {
        targets: null,
        bits: bitsOf('awq with bits', config['bits'] ?? config['w_bit'], [4]),
        groupColumns: groupOf('awq with group_size', config['group_size'] ?? config['q_group_size'] ?? 128),
        hasZeros: true,
        reordered: false,
      },
    ],
    zeroOffset: 0,
  };
}

function parseCompressed(config: ConfigObject): Packing | null {
  const declared = isObject(config['config_groups']) ? config['config_groups'] : {};
  const groups = Object.entries(declared).flatMap(([name, group]) => {
    const weights = isObject(group) ? group['weights'] : undefined;
    if (!isObject(group) || !isObject(weights) || weights['type'] !== 'int') return [];
    return [parseGroup(`config_groups.${name}`, group, weights, group['format'] ?? config['format'])];
  });
  return groups.length === 0 ? null : { tool: 'compressed-tensors', groups, zeroOffset: 0 };
}

function parseGroup(where: string, group: ConfigObject, weights: ConfigObject, format: unknown): PackedGroup {
  if (!['pack-quantized', 'int-quantized', 'mixed-precision'].includes(format as string)) {
    throw unsupported(
      `${where} has integers with format ${quote(format)}; supported: pack-quantized, int-quantized`,
    );
  }
  const {
    num_bits: bits,
    strategy,
    group_size: size,
    symmetric,
    actorder,
    targets: named,
  } = {
    ...weights,
    targets: group['targets'],
  } as ConfigObject;
  const order = actorder ?? null;
  // Columns that were only quantized in another order lie in their own.
  if (!orders.includes(order)) {
    throw unsupported(`${where} has weights with actorder ${quote(order)}`);
  }
  if (strategy !== 'group' && strategy !== 'channel') {
    throw unsupported(`${where} has integers with strategy ${quote(strategy)}; supported: group, channel`);
  }
  const targets = Array.isArray(named) ? named.filter((each) => typeof each === 'string') : [];
  return {
    targets: targets.includes('Linear') ? null : targets,
    bits: bitsOf(`${where} has integers with num_bits`, bits, [4, 8]),
    groupColumns: strategy === 'channel' ? null : groupOf(`${where} has integers with group_size`, size),
    hasZeros: symmetric === false,
    reordered: order === 'group' || order === 'dynamic',
  };
}

function bitsOf(what: string, found: unknown, allowed: readonly (4 | 8)[]): 4 | 8 {
  const bits = allowed.find((each) => each === found);
  if (bits === undefined) throw unsupported(`${what} ${quote(found)}; supported: ${allowed.join(', ')}`);
  return bits;
}

function groupOf(what: string, found: unknown): number | null {
  if (found === -1) return null;
  if (typeof found === 'number' && Number.isInteger(found) && found > 0 && found % blockColumns === 0)
    return found;
  throw unsupported(`${what} ${quote(found)}; supported: -1 and multiples of ${String(blockColumns)}`);
}

function expectField(config: ConfigObject, field: string, allowed: readonly unknown[]): void {
  const found = config[field] ?? null;
  if (found === null || allowed.includes(found)) return;
  throw unsupported(
    `${String(config['quant_method'])} with ${field} ${quote(found)}; supported: ${allowed.map(String).join(', ')}`,
  );
}

function unsupported(problem: string): FailureError {
  return new FailureError('UnsupportedQuantization', `quantization_config: ${problem}`);
}
