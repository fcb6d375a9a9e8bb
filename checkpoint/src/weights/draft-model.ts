// A draft model of method draft_model, engine.speculative.uri: a smaller model whose tokens are the model's own. Operator, runtime
// and engine judge it by this. Pure.

import { FailureError } from '@llmservice/crds';
import type { ModelShape } from '../config/model-shape.js';
import { parseCheckpointConfig, parseConfigObject } from '../config/read-config.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { checkTensors } from './check-tensors.js';
import { asStored } from './engine-names.js';
import { inEngineForm } from './fused-experts.js';
import { joinPacked } from './packed-tensors.js';

export interface DraftModel {
  readonly shape: ModelShape;
  /** Under the engine's names, in its form. */
  readonly tensors: readonly TensorEntry[];
}

/**
 * @param uri for messages
 * @param config its config.json
 * @throws FailureError as `checkDraftModel`, and those of a checkpoint, with the draft model named
 */
export function readDraftModel(
  uri: string,
  config: string,
  stored: readonly TensorEntry[],
  trunk: ModelShape,
): DraftModel {
  const model = ofDraftModel(uri, () => {
    const shape = parseCheckpointConfig(config);
    const tensors = joinPacked(parseConfigObject(config), inEngineForm(shape, stored));
    return { shape: asStored(shape, stored), tensors };
  });
  checkDraftModel(uri, model, trunk);
  return model;
}

/**
 * @throws FailureError InvalidEngineConfig with everything in which it cannot draft for `trunk`; CheckpointIncomplete,
 *   CheckpointCorrupt and UnsupportedQuantization where a tensor is missing, of other sides or of another type
 */
export function checkDraftModel(uri: string, { shape, tensors }: DraftModel, trunk: ModelShape): void {
  const wrong: string[] = [];
  if (shape.vocab !== trunk.vocab) {
    wrong.push(
      `config.json has vocab_size ${String(shape.vocab)} where the model has ${String(trunk.vocab)}: its tokens are others`,
    );
  }
  if (shape.gdn !== null) {
    wrong.push(
      `${shape.architecture} keeps recurrent state, which cannot go back behind a rejected token; layers of attention alone are read`,
    );
  }
  if (shape.bidirectional || !shape.generates) wrong.push(`${shape.architecture} generates no tokens here`);
  if (wrong.length > 0) {
    throw new FailureError(
      'InvalidEngineConfig',
      `engine.speculative.uri ${uri} is no draft model for this model: ${wrong.join('; ')}. Name a smaller model with the same ` +
        'tokenizer and vocab_size, or set engine.speculative.method to ngram or none',
    );
  }
  ofDraftModel(uri, () => checkTensors(shape, tensors));
}

function ofDraftModel<T>(uri: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw inDraftModel(uri, error);
  }
}

/** What is wrong with its checkpoint is not taken for the model's; its files may have gone or changed while they were read. */
export function inDraftModel(uri: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isGone = code === 'ENOENT';
  if (!(error instanceof FailureError) && !isGone) return error;
  const reason = error instanceof FailureError ? error.reason : 'CheckpointIncomplete';
  const remedy =
    reason === 'CheckpointIncomplete' || reason === 'CheckpointCorrupt'
      ? '; put all of its files there, and change none while they are read'
      : '';
  return new FailureError(
    reason,
    `the draft model of engine.speculative.uri ${uri}: ${(error as Error).message}${remedy}`,
    error instanceof FailureError ? error.detail : undefined,
    { cause: error },
  );
}
