// An EAGLE-3 draft model, engine.speculative.uri: its tensors under the engine's names, judged by headers alone. Operator, runtime
// and engine read it by this. Pure.

import { FailureError } from '@llmservice/crds';
import { type Eagle3, parseEagle3Config, refusedDraft } from '../config/eagle3-config.js';
import type { ModelShape } from '../config/model-shape.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { checkEagle3Tensors } from './check-tensors.js';
import { eagle3Tensors } from './expected-tensors.js';

export interface Eagle3Head<Tensor extends TensorEntry = TensorEntry> {
  /** Of its one layer, with the vocabulary of the model. */
  readonly shape: ModelShape;
  readonly eagle3: Eagle3;
  /** Under the engine's names; tensors that are not read are left out. */
  readonly tensors: readonly Tensor[];
}

/** What each draft token is of the model's vocabulary, less its own number. */
const targets = 'eagle3.d2t';

/** Beside t2d, which says the same as d2t: what training or other engines keep. */
const unread = /^(model\.)?(t2d|mask_hidden|verifier_.*|.*rotary_emb\.inv_freq)$/;

const renamed: readonly (readonly [stored: RegExp, name: string])[] = [
  [/^(?:model\.)?(?:midlayer|layers\.0)\./, 'eagle3.layers.0.'],
  [/^(?:model\.)?fc\./, 'eagle3.fusion.'],
  [/^(?:model\.)?(?=(?:norm|input_norm|lm_head|embed_tokens)\.)/, 'eagle3.'],
  [/^(?:model\.)?(?=d2t$)/, 'eagle3.'],
];

/**
 * @param uri for messages
 * @param config its config.json
 * @throws FailureError InvalidEngineConfig where it is none for `trunk`, CheckpointIncomplete, CheckpointCorrupt and
 *   UnsupportedQuantization where a tensor is missing, of other sides or of another type
 */
export function readEagle3Head<Tensor extends TensorEntry>(
  uri: string,
  config: string | object,
  stored: readonly Tensor[],
  trunk: ModelShape,
): Eagle3Head<Tensor> {
  const { shape, eagle3 } = parseEagle3Config(uri, config, trunk);
  const storedNames = new Map<string, string>();
  const tensors = stored
    .filter(({ name }) => !unread.test(name))
    .map((tensor) => {
      const name = renamed.reduce((old, [from, to]) => old.replace(from, to), tensor.name);
      storedNames.set(name, tensor.name);
      return { ...tensor, name };
    });
  const nameOf = (name: string): string =>
    `${storedNames.get(name) ?? name.replace('eagle3.fusion', 'fc').replace('eagle3.', '')} of the draft model`;
  const found = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  checkTargets(found.get(targets), eagle3, shape, nameOf);
  checkEagle3Tensors(
    shape,
    eagle3,
    tensors.filter(({ name }) => name !== targets),
    nameOf,
  );
  const known = new Set([targets, ...Array.from(eagle3Tensors(shape, eagle3, found), ({ name }) => name)]);
  const others = tensors
    .filter(({ name }) => !known.has(name))
    .map(({ name }) => storedNames.get(name) ?? name);
  if (others.length > 0) {
    throw refusedDraft(uri, [
      `it has tensors that no EAGLE-3 draft model here has: ${others.slice(0, 5).join(', ')}`,
    ]);
  }
  return { shape, eagle3, tensors };
}

function checkTargets(
  found: TensorEntry | undefined,
  { vocab }: Eagle3,
  shape: ModelShape,
  nameOf: (name: string) => string,
): void {
  if (found === undefined) {
    if (vocab === shape.vocab) return;
    throw new FailureError(
      'CheckpointIncomplete',
      `there is no tensor ${nameOf(targets)}, which maps its ${String(vocab)} tokens to the model's ${String(shape.vocab)}`,
    );
  }
  if (found.dtype === 'I64' && found.shape.join() === String(vocab)) return;
  throw new FailureError(
    found.dtype === 'I64' ? 'CheckpointCorrupt' : 'UnsupportedQuantization',
    `tensor ${nameOf(targets)} has type ${found.dtype} and shape [${found.shape.join(', ')}]; it is read as I64 of shape [${String(vocab)}]`,
  );
}
