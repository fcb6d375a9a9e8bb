// Releases of some architectures have names of their own for what the engine knows by one name: tensors get that name as soon as
// their headers are read.

import { architectureNamed } from '../config/architectures.js';
import type { ModelShape } from '../config/model-shape.js';

/** The same tensors under the names that the engine has for them; `tensors` themselves where none differ. */
export function inEngineNames<Tensor extends { readonly name: string }>(
  { architecture }: Pick<ModelShape, 'architecture'>,
  tensors: readonly Tensor[],
): readonly Tensor[] {
  const renamed = architectureNamed(architecture)?.renamed ?? [];
  if (renamed.length === 0) return tensors;
  return tensors.map((tensor) => ({
    ...tensor,
    name: renamed.reduce((name, [stored, own]) => name.replace(stored, own), tensor.name),
  }));
}
