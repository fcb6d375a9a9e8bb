// Modules that config.json lists as not quantized, by the lists of the tools whose checkpoints are read. A matrix that
// is quantized although its module is listed was put there by mistake, or its config.json is another checkpoint's.

import { FailureError } from '@llmservice/crds';
import { type ConfigObject, isObject } from '../config/config-fields.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { towers } from './towers.js';

/** Wrapper prefixes differ between releases; longest first. */
const wrapper = /^(model\.language_model\.|language_model\.model\.|language_model\.|model\.)/;
/** The matrix of a module, or a stack of experts' matrices, which is its own module. */
const matrix = /^(.*\.experts\.[a-z_]+_proj)(?:_blocks)?$|^(.*)\.(?:weight|weight_packed|qweight)$/;
const quantizedTypes = new Set(['F8_E4M3', 'F8_E4M3FNUZ', 'U8', 'I32', 'I8']);
const unread = new RegExp(String.raw`^(${towers}|mtp\.)`);

interface LeftAlone {
  /** Name of the field, for messages. */
  readonly list: string;
  readonly has: (module: string) => boolean;
}

/**
 * The lists' patterns are the checkpoint's own, and may take for ever: for processes that may be killed.
 * @param config the whole config.json
 * @throws FailureError CheckpointCorrupt
 */
export function checkLeftAlone(config: ConfigObject, tensors: Iterable<TensorEntry>): void {
  const leftAlone = readList(config);
  if (leftAlone === null) return;
  for (const { name, dtype, shape } of tensors) {
    if (!quantizedTypes.has(dtype) || shape.length < 2 || unread.test(name)) continue;
    const [, stack, single] = matrix.exec(name) ?? [];
    const module = stack ?? single;
    if (module === undefined || !leftAlone.has(module)) continue;
    throw new FailureError(
      'CheckpointCorrupt',
      `tensor ${name} is ${dtype} but config.json lists ${module} in ${leftAlone.list}, as not quantized`,
    );
  }
}

function readList(config: ConfigObject): LeftAlone | null {
  const declared = config['quantization_config'] ?? config['compression_config'];
  if (!isObject(declared)) return null;
  if (declared['quant_method'] === 'gptq') return gptqList(declared);
  const list = nameOfList(declared);
  const entries = declared[list] ?? [];
  if (!Array.isArray(entries)) throw corrupt(`${list} is not a list`);
  const tests = entries.map((entry: unknown) => {
    if (typeof entry !== 'string') throw corrupt(`${list} has an entry that is not a string`);
    return testOf(entry);
  });
  return { list, has: (module) => tests.some((test) => test(module)) };
}

/** Modules that a rule leaves alone, or that are not among those to quantize. */
function gptqList(declared: ConfigObject): LeftAlone {
  const rules = Object.keys(isObject(declared['dynamic']) ? declared['dynamic'] : {});
  const tests = rules.map((rule) => testOf(`re:${rule.replace(/^-:/, '')}`));
  const inside = declared['modules_in_block_to_quantize'] ?? null;
  if (inside === null) return { list: 'dynamic', has: (module) => tests.some((test) => test(module)) };
  const names: unknown[] = Array.isArray(inside) ? inside.flat() : [inside];
  if (!names.every((name) => typeof name === 'string')) {
    throw corrupt('modules_in_block_to_quantize is not a list of lists of strings');
  }
  return {
    list: 'dynamic or in none of modules_in_block_to_quantize',
    has: (module) => tests.some((test) => test(module)) || !names.some((name) => module.endsWith(`.${name}`)),
  };
}

function nameOfList(declared: ConfigObject): string {
  switch (declared['quant_method']) {
    case 'awq':
    case 'mxfp4':
      return 'modules_to_not_convert';
    case 'fp8':
      return 'ignored_layers' in declared ? 'ignored_layers' : 'modules_to_not_convert';
    case 'compressed-tensors':
      return 'ignore';
    case 'quark':
      return 'exclude';
    default: // modelopt
      return 'exclude_modules' in declared ? 'exclude_modules' : 'ignore';
  }
}

/** modelopt's lists hold names with "*"; compressed-tensors marks regular expressions with "re:". */
export function testOf(entry: string): (module: string) => boolean {
  if (entry.startsWith('re:')) return anchored(entry, entry.slice(3));
  if (entry.includes('*')) {
    const literal = entry.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return anchored(entry, `${literal.join('.*')}$`);
  }
  const name = entry.replace(wrapper, '');
  return (module) => {
    const own = module.replace(wrapper, '');
    return own === name || own.startsWith(`${name}.`) || own.endsWith(`.${name}`);
  };
}

/** As Python's re.match has it: from the beginning, not to the end. */
function anchored(entry: string, pattern: string): (module: string) => boolean {
  try {
    const expression = new RegExp(`^(?:${pattern})`);
    return (module) => expression.test(module);
  } catch (cause) {
    throw corrupt(`quantization_config has ${JSON.stringify(entry)}, which is no regular expression`, cause);
  }
}

function corrupt(problem: string, cause?: unknown): FailureError {
  return new FailureError('CheckpointCorrupt', `config.json: ${problem}`, undefined, { cause });
}
