// Structured output that clients ask for, compiled over the checkpoint's own vocabulary in processes that may die. The tokenizer is read while the
// weights load; a checkpoint without one serves everything else.

import { workRoom } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { grammarCompiler, type CompiledGrammar } from '@llmservice/native';
import { openLocalModel } from '@llmservice/checkpoint/local';
import { readCheckpointDefaults } from '../checkpoint/read-checkpoint-defaults.js';
import { readTokenizer } from '../checkpoint/read-text-files.js';
import type { GrammarText } from '../schedule/generation.js';
import { CompileProcesses } from './compile-processes.js';
import { GrammarCache } from './grammar-cache.js';
import { GrammarQueue } from './grammar-queue.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { vocabularyOf } from '../tokens/vocabulary.js';

/**
 * What usual schemas take over 200,000 ids: 0.1 s; strings with a length, 6 s; what is refused unseen, minutes. The memory
 * plan counts one; three at once take two more from what it leaves.
 */
const limits = {
  atOnce: 3,
  slowAtOnce: 2,
  short: { wallSeconds: 1, cpuSeconds: 0.25 },
  waitMs: 30_000,
  each: {
    cpuSeconds: 15,
    wallSeconds: 45,
    stallSeconds: 10,
    memoryBytes: workRoom.formBytes,
    resultBytes: 128 * 2 ** 20,
  },
};
const cacheLimits = { bytes: 256 * 2 ** 20, refusals: 256, refusalMs: 60_000 };

export interface Grammars {
  /**
   * @param key keys take turns
   * @param wanted aborted once nobody waits for it: then it ends
   * @throws an error with reason GrammarInvalid or QueueTimeout, whose message says why, for the client, or EngineFault
   */
  compile(grammar: GrammarText, key: string, wanted: AbortSignal): Promise<CompiledGrammar>;
}

/** Before the weights are loaded: what is forked later, of a large process, holds up its steps. */
export const startCompileProcesses = (): CompileProcesses =>
  new CompileProcesses(limits.atOnce, limits.each, limits.short);

export interface TokenizerFiles {
  readonly tokenizer: Tokenizer;
  readonly eosIds: readonly number[];
}

/** @param model the checkpoint: its folder, or its GGUF file. Null: it has no tokenizer that can be used. */
export async function readTokenizerFiles(model: string): Promise<TokenizerFiles | null> {
  try {
    const { dir, gguf } = await openLocalModel(model);
    const tokenizer = await readTokenizer(dir, gguf);
    return { tokenizer, eosIds: (await readCheckpointDefaults(dir, gguf, tokenizer)).eosIds };
  } catch (error) {
    // The server reads the same files, and reports what is wrong with them.
    if (error instanceof FailureError) return null;
    throw error;
  }
}

/** @param vocabSize ids of the model */
export function grammarsOf(
  files: TokenizerFiles | null,
  vocabSize: number,
  processes: CompileProcesses,
): Grammars {
  if (files === null) return { compile: () => Promise.reject(noTokenizer()) };
  const vocabulary = vocabularyOf(files.tokenizer, vocabSize, files.eosIds);
  processes.use(vocabulary);
  const compiler = grammarCompiler(vocabulary);
  const cache = new GrammarCache(cacheLimits, () => performance.now());
  return new GrammarQueue(processes, (...written) => compiler.read(...written), cache, limits);
}

function noTokenizer(): FailureError {
  return new FailureError(
    'GrammarInvalid',
    'the checkpoint has no tokenizer, so that structured output is not available',
  );
}
