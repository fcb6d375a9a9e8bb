// Releases of some architectures have names of their own for what the engine knows by one name: tensors get that name as soon as
// their headers are read. Those for embeddings may have been saved without the head that config.json implies.

import { architectureNamed } from '../config/architectures.js';
import type { ModelShape } from '../config/model-shape.js';

/** What transformers saves of a model without its head, as releases of Qwen3-Embedding are. */
const bare =
  /^(?:embed_tokens|embed_tokens_per_layer|embed_positions|embed_types|embed_norm|per_layer_model_projection|per_layer_projection_norm|layers|norm)\./;

type Named = readonly { readonly name: string }[];

const isBare = (stored: Named): boolean => stored.some(({ name }) => name === 'embed_tokens.weight');

/** What a checkpoint with these tensors is: its head may be neither there nor the embedding, and then it generates nothing. */
export function asStored(shape: ModelShape, stored: Named): ModelShape {
  const hasHead = shape.tiedEmbeddings || stored.some(({ name }) => name.includes('lm_head.'));
  return hasHead || !isBare(stored) ? shape : { ...shape, tiedEmbeddings: true, generates: false };
}

/** The same tensors under the names that the engine has for them; `tensors` themselves where none differ. */
export function inEngineNames<Tensor extends { readonly name: string }>(
  { architecture }: Pick<ModelShape, 'architecture'>,
  tensors: readonly Tensor[],
): readonly Tensor[] {
  const renamed = architectureNamed(architecture)?.renamed ?? [];
  const named =
    renamed.length === 0
      ? tensors
      : tensors.map((tensor) => ({
          ...tensor,
          name: renamed.reduce((name, [stored, own]) => withPart(name, stored, own), tensor.name),
        }));
  if (!isBare(named)) return named;
  return named.map((tensor) =>
    bare.test(tensor.name) ? { ...tensor, name: `model.${tensor.name}` } : tensor,
  );
}

/** What releases call the tensor `name` of the engine, for messages. */
export function storedName({ architecture }: Pick<ModelShape, 'architecture'>, name: string): string {
  const { renamed = [], stacked = [] } = architectureNamed(architecture) ?? {};
  const whole = stacked.reduce(
    (other, [stored, parts]) => parts.reduce((each, own) => withPart(each, own, stored), other),
    name,
  );
  return renamed.reduceRight(
    (other, [stored, own]) => (own === '' ? other.replace(/^model\./, '') : withPart(other, own, stored)),
    whole,
  );
}

/** `name` with `other` for its `part`, which lies at the top of the model unless it begins with a dot: `norm.` is no `attn_norm.`. */
function withPart(name: string, part: string, other: string): string {
  if (part.startsWith('.')) return name.replace(part, other);
  const top = ['', 'model.'].find((each) => name.startsWith(`${each}${part}`));
  return top === undefined ? name : `${top}${other}${name.slice(top.length + part.length)}`;
}
