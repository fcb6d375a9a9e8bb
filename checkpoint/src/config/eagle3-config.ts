// config.json of an EAGLE-3 draft model, in both forms that are published: that of speculators (transformer_layer_config within)
// and the older one, whose fields stand at the top, as yuhuili, AngelSlim and SpecForge release theirs. Pure.

import { FailureError } from '@llmservice/crds';
import { type ConfigObject, isObject, quote } from './config-fields.js';
import type { ModelShape } from './model-shape.js';
import { parseCheckpointConfig, parseConfigObject } from './read-config.js';

/** What such a model has beside the shape of its layer. */
export interface Eagle3 {
  /** Tokens of its own vocabulary. */
  readonly vocab: number;
  /** Layers of the model that it drafts for, ascending: it reads what they read; their number: what the last gives. */
  readonly layers: readonly number[];
  /** The residual stream begins with the normed hidden state. */
  readonly normBeforeResidual: boolean;
  /** What the layers read is normed, the three as one, before fc joins it. */
  readonly normBeforeFc: boolean;
  /** Later drafts continue from the layer's output behind its norm. */
  readonly normOutput: boolean;
}

export interface Eagle3Config {
  /** Of its one layer, with the vocabulary of the model. */
  readonly shape: ModelShape;
  readonly eagle3: Eagle3;
}

/** What transformers leaves out of a Llama's config where it is the default. */
const llamaDefaults: ConfigObject = {
  model_type: 'llama',
  vocab_size: 32_000,
  hidden_size: 4096,
  intermediate_size: 11_008,
  num_attention_heads: 32,
  max_position_embeddings: 2048,
};
const layerTypes = ['llama', 'qwen3'];

/**
 * @param uri for messages
 * @throws FailureError InvalidEngineConfig with everything in which it is no draft model for `trunk`, and as `parseCheckpointConfig`
 */
export function parseEagle3Config(uri: string, source: string | object, trunk: ModelShape): Eagle3Config {
  const top = parseConfigObject(source);
  const kind = top['speculators_model_type'];
  if (kind !== undefined && kind !== 'eagle3') {
    throw refusedDraft(uri, [`speculators_model_type is ${quote(kind)}, and only eagle3 is read`]);
  }
  const layer = kind === undefined ? top : layerOf(uri, top);
  if (kind === undefined && !isOlderForm(top)) {
    throw refusedDraft(uri, [
      'config.json has neither speculators_model_type nor draft_vocab_size: it is of no EAGLE-3 draft model',
    ]);
  }
  const { model_type: type, num_hidden_layers: count } = layer;
  const wrong: string[] = [];
  if (!layerTypes.includes(type as string)) {
    wrong.push(`model_type of its layer is ${quote(type)} where ${layerTypes.join(' or ')} is read`);
  }
  if (count !== 1) wrong.push(`num_hidden_layers is ${quote(count)} where 1 is read`);
  if (wrong.length > 0) throw refusedDraft(uri, wrong);
  const shape = parseCheckpointConfig({ ...layer, tie_word_embeddings: false });
  const eagle3 = {
    vocab: positiveOr(top['draft_vocab_size'], shape.vocab),
    layers: layersOf(top, trunk.layerKinds.length),
    normBeforeResidual: isSet(top, 'norm_before_residual'),
    normBeforeFc: isSet(top, 'norm_before_fc'),
    normOutput: isSet(top, 'norm_output'),
  };
  const differences = differencesOf({ shape, eagle3 }, top, trunk);
  if (differences.length > 0) throw refusedDraft(uri, differences);
  return { shape, eagle3 };
}

export function refusedDraft(uri: string, wrong: readonly string[]): FailureError {
  return new FailureError(
    'InvalidEngineConfig',
    `engine.speculative.uri ${uri} is no draft model for this model: ${wrong.join('; ')}. Name an EAGLE-3 draft model that was ` +
      'trained for it, or set engine.speculative.method to ngram or none',
  );
}

function layerOf(uri: string, top: ConfigObject): ConfigObject {
  const layer = top['transformer_layer_config'];
  if (!isObject(layer)) throw refusedDraft(uri, ['config.json has no transformer_layer_config']);
  return { ...llamaDefaults, ...layer };
}

function isOlderForm(top: ConfigObject): boolean {
  const names = top['architectures'];
  const named = Array.isArray(names) && names.some((name) => /eagle3/i.test(String(name)));
  return named || top['draft_vocab_size'] !== undefined;
}

/** Where speculators have it, or in eagle_config, as NVIDIA's releases have. */
function isSet(top: ConfigObject, name: string): boolean {
  const inner = isObject(top['eagle_config']) ? top['eagle_config'] : {};
  return (top[name] ?? inner[name]) === true;
}

function positiveOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : fallback;
}

/**
 * Speculators name layers by what they read; eagle_config, which SGLang reads, by what they give. Without either, all trainers take
 * the same three.
 */
function layersOf(top: ConfigObject, count: number): number[] {
  const inner = isObject(top['eagle_config']) ? top['eagle_config'] : {};
  const ascending = (ids: readonly unknown[]): number[] => ids.map(Number).sort((a, b) => a - b);
  const [read, given] = [top, inner].map((each) => each['eagle_aux_hidden_state_layer_ids']);
  if (Array.isArray(read) && read.length > 0) return ascending(read);
  if (Array.isArray(given) && given.length > 0) return ascending(given).map((id) => id + 1);
  return ascending([2, Math.floor(count / 2), count - 3]);
}

function differencesOf({ shape, eagle3 }: Eagle3Config, top: ConfigObject, trunk: ModelShape): string[] {
  const wrong: string[] = [];
  const same = (field: string, found: number, expected: number): void => {
    if (found !== expected)
      wrong.push(`config.json has ${field} ${String(found)} where the model has ${String(expected)}`);
  };
  same('hidden_size', shape.hidden, trunk.hidden);
  same('target_hidden_size', positiveOr(top['target_hidden_size'], trunk.hidden), trunk.hidden);
  // Draft tokens are the model's, by d2t: one that counts them otherwise would propose others than it means.
  same('vocab_size', shape.vocab, trunk.vocab);
  const count = trunk.layerKinds.length;
  const { layers, vocab } = eagle3;
  const isFit =
    new Set(layers).size === 3 && layers.every((id) => Number.isInteger(id) && id >= 0 && id <= count);
  if (!isFit || layers.length !== 3) {
    wrong.push(
      `it reads layers ${layers.join(', ')} (eagle_aux_hidden_state_layer_ids) where three of 0 to ${String(count)} are expected`,
    );
  }
  if (vocab > shape.vocab) {
    wrong.push(`draft_vocab_size ${String(vocab)} is more than vocab_size ${String(shape.vocab)}`);
  }
  if (trunk.embeddingScale !== 1)
    wrong.push(`${trunk.architecture} scales its embeddings, which no draft model here does`);
  const inner = top['eagle_config'];
  if (isObject(inner) && inner['use_aux_hidden_state'] === false) {
    wrong.push('eagle_config.use_aux_hidden_state is false, and only fc over three hidden states is read');
  }
  if (isSet(top, 'fc_norm')) {
    wrong.push(
      'fc_norm is true: a norm for each hidden state before fc, where one norm of all three is read',
    );
  }
  if (shape.quantization !== 'none')
    wrong.push(`its weights are quantized (${shape.quantization}); take BF16, F16 or F32`);
  return wrong;
}
