// What is wrong with a file of sentence-transformers, by the file.

import { FailureError } from '@llmservice/crds';

export const corruptModule = (file: string, problem: string): FailureError =>
  new FailureError('CheckpointCorrupt', `${file} ${problem}`, { file });

export const unsupportedModule = (file: string, problem: string): FailureError =>
  new FailureError('UnsupportedArchitecture', `${file} ${problem}`, { file });

/** In whole words, of which `file` is missing. */
export const incompleteModule = (file: string, problem: string): FailureError =>
  new FailureError('CheckpointIncomplete', problem, { file });
