// The tensors of a LoRA adapter against the model that it is for: a pair of A and B for each linear layer that it changes.

import { FailureError } from '@llmservice/crds';
import type { ModelShape } from '../config/model-shape.js';
import type { PlacedTensor } from '../formats/safetensors-header.js';
import type { AdapterConfig } from './adapter-config.js';
import { isUnread, projections, projectionSides, type ProjectionName, type Sides } from './projections.js';

export const adapterWeightsFile = 'adapter_model.safetensors';

export type AdapterTensorDtype = 'F32' | 'BF16' | 'F16';

/** What is added to the output of one linear layer: scale · B · A · x. */
export interface LowRankPair {
  readonly layer: number;
  readonly projection: ProjectionName;
  readonly rank: number;
  readonly scale: number;
  readonly sides: Sides;
  readonly a: StoredMatrix;
  readonly b: StoredMatrix;
}

/** Where a matrix lies in the adapter's file. */
export interface StoredMatrix {
  readonly dtype: AdapterTensorDtype;
  readonly offset: number;
  readonly bytes: number;
}

const weightName =
  /^base_model\.model\.((?:[\w]+\.){0,4}layers\.(\d{1,5})\.(?:self_attn|mlp)\.(\w+))\.lora_([AB])\.weight$/;
/** What adapters may hold besides, each with what is to be said of it. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [/lora_embedding_|embed_tokens/, 'embeddings are not adapted'],
  [/lora_magnitude_vector/, 'DoRA is not supported'],
  [/lm_head/, 'the head is not adapted'],
  [/\.experts\.|\.shared_experts?\./, 'experts are not adapted'],
  [/\.linear_attn\./, 'layers with linear attention are not adapted'],
  [/\.bias$|lora_bias/, 'biases are not adapted'],
];
/** Of the names in one message. */
const maxNamed = 5;

/**
 * The pairs in the order of their layers.
 * @throws FailureError InvalidEngineConfig naming tensors with what was expected and found
 */
export function planAdapter(
  config: AdapterConfig,
  tensors: readonly PlacedTensor[],
  shape: ModelShape,
): LowRankPair[] {
  const problems: string[] = [];
  const modules = new Map<
    string,
    Partial<Record<'A' | 'B', PlacedTensor>> & { layer: number; name: string }
  >();
  for (const tensor of tensors) {
    const [, module = '', layer = '', name = '', side = ''] = weightName.exec(tensor.name) ?? [];
    const isProjection = (projections as readonly string[]).includes(name);
    if (!isProjection || tensor.name.includes('.experts.')) {
      problems.push(`tensor ${tensor.name}: ${whyRefused(tensor.name)}`);
      continue;
    }
    const entry = modules.get(module) ?? { layer: Number(layer), name };
    entry[side as 'A' | 'B'] = tensor;
    modules.set(module, entry);
  }
  const pairs: LowRankPair[] = [];
  for (const [module, { layer, name, A, B }] of modules) {
    const projection = name as ProjectionName;
    // Some training tools store pairs for keys and values that the layer never reads, as releases of the base do.
    if (isUnread(shape, layer, projection)) continue;
    const sides = projectionSides(shape, layer, projection);
    if (sides === null) {
      problems.push(
        `${module}: the model has no such linear layer, in ${String(shape.layerKinds.length)} layers`,
      );
    } else if (A === undefined || B === undefined) {
      problems.push(`${module}: lora_${A === undefined ? 'A' : 'B'}.weight is missing`);
    } else {
      const rank = config.rankOf(module);
      const a = readMatrix(A, [rank, sides.inputs], problems);
      const b = readMatrix(B, [sides.outputs, rank], problems);
      pairs.push({ layer, projection, rank, scale: config.scaleOf(module), sides, a, b });
    }
  }
  if (problems.length === 0 && pairs.length === 0) problems.push('there is no tensor of a linear layer');
  if (problems.length > 0) throw refused(problems);
  const key = ({ layer, projection }: LowRankPair): string => `${String(layer)} ${projection}`;
  const seen = new Set(pairs.map(key));
  if (seen.size < pairs.length) throw refused(['a linear layer is there under two names']);
  return pairs.sort((one, other) => one.layer - other.layer);
}

function readMatrix(
  { name, dtype, shape, offset, bytes }: PlacedTensor,
  sides: readonly [number, number],
  problems: string[],
): StoredMatrix {
  if (shape.length !== 2 || shape[0] !== sides[0] || shape[1] !== sides[1]) {
    problems.push(
      `tensor ${name} has shape [${shape.join(', ')}]; expected is [${sides.join(', ')}] by the adapter's rank and the base`,
    );
  }
  if (dtype !== 'F32' && dtype !== 'BF16' && dtype !== 'F16') {
    problems.push(`tensor ${name} has dtype ${dtype}; expected is F32, BF16 or F16`);
  }
  return { dtype: dtype as AdapterTensorDtype, offset, bytes };
}

function whyRefused(name: string): string {
  const known = refusals.find(([pattern]) => pattern.test(name))?.[1];
  return (
    known ?? `expected are base_model.model.….lora_A.weight and lora_B.weight of ${projections.join(', ')}`
  );
}

function refused(problems: readonly string[]): FailureError {
  const more = problems.length - maxNamed;
  const named = problems.slice(0, maxNamed).join('; ');
  return new FailureError(
    'InvalidEngineConfig',
    `${adapterWeightsFile}: ${named}${more > 0 ? `; and ${String(more)} more` : ''}`,
  );
}
