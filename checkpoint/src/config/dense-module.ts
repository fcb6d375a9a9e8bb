// The module Dense of sentence-transformers, which a pooled vector goes through: a matrix, with a bias or without, and an
// activation. Its folder has config.json, and its weights in model.safetensors.

import { parseSmallJson } from '../json/small-json.js';
import { isObject, quote } from './config-fields.js';
import { corruptModule, incompleteModule, unsupportedModule } from './module-failures.js';
import { pathOf } from './nested-files.js';

export type DenseActivation = 'identity' | 'tanh';

export interface DenseModule {
  /** Of its config, for messages. */
  readonly path: string;
  /** Flat name of the file of its weights. */
  readonly weightsFile: string;
  readonly inFeatures: number;
  readonly outFeatures: number;
  readonly bias: boolean;
  readonly activation: DenseActivation;
}

/** Flat name of its config. */
export const denseFileOf = (folder: string): string => `${folder}.config.json`;

/** By the path of the class in PyTorch. */
const activations: ReadonlyMap<unknown, DenseActivation> = new Map([
  ['torch.nn.modules.linear.Identity', 'identity'],
  ['torch.nn.modules.activation.Tanh', 'tanh'],
  ['torch.nn.Identity', 'identity'],
  ['torch.nn.Tanh', 'tanh'],
]);
const defaultActivation = 'torch.nn.modules.activation.Tanh';
/** Several times what any embedder has. */
const maxFeatures = 65_536;
const pooled = 'sentence_embedding';

/**
 * @param given width of what comes in, and what says so
 * @throws FailureError CheckpointCorrupt, UnsupportedArchitecture
 */
export function readDense(
  folder: string,
  text: string,
  given: { readonly width: number; readonly from: string },
): DenseModule {
  const path = pathOf(denseFileOf(folder));
  const config = parseSmallJson(path, text);
  if (!isObject(config)) throw corruptModule(path, 'is not a JSON object');
  const width = (field: string): number => {
    const value = config[field];
    if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= maxFeatures)
      return value as number;
    throw corruptModule(
      path,
      `has ${field} ${quote(value)}; expected a whole number up to ${String(maxFeatures)}`,
    );
  };
  const inFeatures = width('in_features');
  if (inFeatures !== given.width)
    throw corruptModule(
      path,
      `has in_features ${String(inFeatures)}; expected ${String(given.width)}, the ${given.from}`,
    );
  const { bias = true, activation_function: named = defaultActivation } = config;
  if (typeof bias !== 'boolean') throw corruptModule(path, `has bias ${quote(bias)}; expected true or false`);
  const activation = activations.get(named);
  if (activation === undefined)
    throw unsupportedModule(
      path,
      `has activation_function ${quote(named)}; supported: ${[...activations.keys()].slice(0, 2).join(', ')}`,
    );
  if (config['use_residual'] === true)
    throw unsupportedModule(path, 'has use_residual true, which is not supported');
  for (const field of ['module_input_name', 'module_output_name']) {
    const name = config[field] ?? pooled;
    if (name !== pooled) throw unsupportedModule(path, `has ${field} ${quote(name)}; supported: ${pooled}`);
  }
  return {
    ...{ path, weightsFile: `${folder}.model.safetensors` },
    ...{ inFeatures, outFeatures: width('out_features'), bias, activation },
  };
}

/** Bytes of its values in float32, as the runtime holds them. */
export const denseBytes = ({ inFeatures, outFeatures, bias }: DenseModule): number =>
  4 * (inFeatures * outFeatures + (bias ? outFeatures : 0));

/** Of a header. */
interface DenseTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}

export const denseTensors = { weight: 'linear.weight', bias: 'linear.bias' } as const;
const readTypes = ['F32', 'BF16', 'F16'];

/**
 * @param tensors of the file of its weights; null: there is none
 * @throws FailureError CheckpointCorrupt, CheckpointIncomplete, UnsupportedArchitecture
 */
export function checkDenseTensors(dense: DenseModule, tensors: readonly DenseTensor[] | null): void {
  const file = pathOf(dense.weightsFile);
  if (tensors === null)
    throw incompleteModule(
      file,
      `there is no ${file}: put it beside the weights; other forms, such as pytorch_model.bin, are not read`,
    );
  const expected = [
    [denseTensors.weight, [dense.outFeatures, dense.inFeatures]],
    ...(dense.bias ? [[denseTensors.bias, [dense.outFeatures]] as const] : []),
  ] as const;
  for (const [name, sides] of expected) {
    const found = tensors.find((tensor) => tensor.name === name);
    if (found === undefined) throw incompleteModule(file, `${file} has no tensor ${name}`);
    if (found.shape.join() !== sides.join())
      throw corruptModule(
        file,
        `has tensor ${name} of [${found.shape.join(', ')}]; expected [${sides.join(', ')}], by ${dense.path}`,
      );
    if (!readTypes.includes(found.dtype))
      throw unsupportedModule(
        file,
        `has tensor ${name} of type ${found.dtype}; supported: ${readTypes.join(', ')}`,
      );
  }
  const other = tensors.find(({ name }) => !expected.some(([known]) => known === name));
  if (other !== undefined)
    throw corruptModule(file, `has tensor ${other.name}, which ${dense.path} does not name`);
}
