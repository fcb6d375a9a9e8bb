// adapter_config.json of a LoRA adapter as PEFT writes it: which scale each linear layer has, and what else the adapter would
// do to a model. What the engine would not do as it was trained is refused by the name of its key.

import { FailureError } from '@llmservice/crds';
import { isObject, quote, type ConfigObject } from '../config/config-fields.js';
import { checkSmallFile, parseSmallJson } from '../json/small-json.js';
import { maxAdapterRank, projections } from './projections.js';

export const adapterConfigFile = 'adapter_config.json';

export interface AdapterConfig {
  /** Of the linear layer `module`, for example `model.layers.0.self_attn.q_proj`. */
  rankOf(module: string): number;
  /** What B · A · x is multiplied by. */
  scaleOf(module: string): number;
}

/** Keys whose value must be one of these: each other value changes what the adapter computes. */
const plain: Readonly<Record<string, readonly unknown[]>> = {
  peft_type: ['LORA'],
  bias: ['none', undefined],
  lora_bias: [false, undefined],
  use_dora: [false, undefined],
  use_qalora: [false, undefined],
  fan_in_fan_out: [false, undefined],
};
/** Keys that must be absent, null or empty. */
const absent = [
  ...['modules_to_save', 'target_parameters', 'trainable_token_indices', 'layer_replication'],
  ...['alora_invocation_tokens', 'megatron_config', 'arrow_config', 'kasa_config', 'velora_config'],
  ...['monteclora_config', 'use_bdlora'],
];
/** Ways to begin that change the weights of the base, so that the adapter is one for another model. */
const changesBase = /^(?:pissa|olora|loftq|corda)/;
/** A name of a module, its end, or with ^ all of it. PEFT takes any regular expression. */
const plainName = /^\^?[\w.]{1,200}$/;

/** @throws FailureError CheckpointCorrupt; InvalidEngineConfig naming every key that is refused */
export function parseAdapterConfig(text: string): AdapterConfig {
  checkSmallFile(adapterConfigFile, Buffer.byteLength(text));
  const config = parseSmallJson(adapterConfigFile, text);
  if (!isObject(config)) throw refused(['the file is no object']);
  const problems = [...refusedKeys(config), ...refusedTargets(config['target_modules'])];
  const rank = config['r'];
  if (!isRank(rank)) {
    problems.push(`r is ${quote(rank)}; expected is an integer from 1 to ${String(maxAdapterRank)}`);
  }
  const alpha = config['lora_alpha'] ?? 8;
  if (!isFinite(alpha)) problems.push(`lora_alpha is ${quote(alpha)}; expected is a number`);
  const ranks = readPattern(config, 'rank_pattern', isRank, problems);
  const alphas = readPattern(config, 'alpha_pattern', isFinite, problems);
  const rooted = config['use_rslora'] ?? false;
  if (typeof rooted !== 'boolean') problems.push(`use_rslora is ${quote(rooted)}; expected is true or false`);
  if (problems.length > 0) throw refused(problems);
  const rankOf = (module: string): number => ranks(module) ?? (rank as number);
  return {
    rankOf,
    scaleOf: (module) => {
      const of = rankOf(module);
      return (alphas(module) ?? (alpha as number)) / (rooted === true ? Math.sqrt(of) : of);
    },
  };
}

function* refusedKeys(config: ConfigObject): Generator<string> {
  for (const [key, allowed] of Object.entries(plain)) {
    const value = config[key] ?? undefined;
    if (!allowed.includes(value)) yield `${key} is ${quote(value)}; expected is ${quote(allowed[0])}`;
  }
  for (const key of absent) {
    const value = config[key] ?? false;
    const isEmpty = value === false || (typeof value === 'object' && Object.keys(value).length === 0);
    if (!isEmpty) yield `${key} is ${quote(value)}; expected is none: only linear layers are adapted`;
  }
  const begin = config['init_lora_weights'];
  if (typeof begin === 'string' && changesBase.test(begin)) {
    yield `init_lora_weights is ${quote(begin)}, which changes the weights of the base; convert the adapter to a plain one`;
  }
}

function* refusedTargets(targets: unknown): Generator<string> {
  // One text is a pattern, or all-linear: the tensors say what it met.
  if (typeof targets === 'string' || (targets ?? null) === null) return;
  if (!Array.isArray(targets)) {
    yield `target_modules is ${quote(targets)}; expected is a list of names`;
    return;
  }
  const known: readonly string[] = projections;
  const others = targets.filter(
    (each) => typeof each !== 'string' || !known.includes(each.slice(each.lastIndexOf('.') + 1)),
  );
  if (others.length > 0) {
    yield `target_modules has ${quote(others)}; adapters are taken of ${known.join(', ')}`;
  }
}

/** What a pattern of the config gives for a module; undefined: nothing. The first key that matches counts. */
function readPattern(
  config: ConfigObject,
  key: string,
  isValue: (value: unknown) => value is number,
  problems: string[],
): (module: string) => number | undefined {
  const pattern = config[key] ?? {};
  if (!isObject(pattern)) {
    problems.push(`${key} is ${quote(pattern)}; expected is an object of numbers by module`);
    return () => undefined;
  }
  const entries = Object.entries(pattern);
  for (const [name, value] of entries) {
    if (!plainName.test(name))
      problems.push(`${key} has the key ${quote(name)}; expected are names of modules`);
    if (!isValue(value)) problems.push(`${key} has ${quote(value)} for ${name}`);
  }
  const matches = (name: string, module: string): boolean =>
    name.startsWith('^') ? module === name.slice(1) : module === name || module.endsWith(`.${name}`);
  return (module) => entries.find(([name]) => matches(name, module))?.[1] as number | undefined;
}

function isRank(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= maxAdapterRank;
}

function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}

function refused(problems: readonly string[]): FailureError {
  return new FailureError('InvalidEngineConfig', `${adapterConfigFile}: ${problems.join('; ')}`);
}
