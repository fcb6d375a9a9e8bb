// What clients ask of an answer's form, compiled over the checkpoint's own vocabulary. The tokenizer is read while the
// weights load; a checkpoint without one serves everything else.

import { FailureError } from '@llmservice/crds';
import { grammarCompiler, type CompiledGrammar, type GrammarCompiler } from '@llmservice/native';
import pLimit from 'p-limit';
import { openLocalModel } from '../checkpoint/local-gguf.js';
import { readGenerationDefaults } from '../checkpoint/read-generation-defaults.js';
import { readTokenizer } from '../checkpoint/read-text-files.js';
import type { GrammarText } from '../schedule/generation.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { vocabularyOf } from '../tokens/vocabulary.js';

/** The processors are wanted by steps too. */
const compileLimits = { atOnce: 2, milliseconds: 30_000 };

export interface Grammars {
  /** @throws an error with reason GrammarInvalid, whose message tells the client why */
  compile(grammar: GrammarText): Promise<CompiledGrammar>;
}

export interface TokenizerFiles {
  readonly tokenizer: Tokenizer;
  readonly eosIds: readonly number[];
}

/** @param model the checkpoint: its folder, or its GGUF file. Null: it has no tokenizer that can be used. */
export async function readTokenizerFiles(model: string): Promise<TokenizerFiles | null> {
  try {
    const { dir, gguf } = await openLocalModel(model);
    const { eosIds } = await readGenerationDefaults(dir, gguf);
    return { tokenizer: await readTokenizer(dir, gguf), eosIds };
  } catch (error) {
    // The server reads the same files, and tells what is wrong with them.
    if (error instanceof FailureError) return null;
    throw error;
  }
}

/** @param vocabSize ids of the model */
export function grammarsOf(files: TokenizerFiles | null, vocabSize: number): Grammars {
  if (files === null) return { compile: () => Promise.reject(noTokenizer()) };
  const compiler: GrammarCompiler = grammarCompiler(vocabularyOf(files.tokenizer, vocabSize, files.eosIds));
  return { compile: bounded(({ kind, text }) => compiler.compile(kind, text), compileLimits) };
}

/**
 * Few compiles at once, and an end for each request: beyond its time it is refused, though the thread goes on to the
 * end of its work.
 */
export function bounded<In, Out>(
  compile: (grammar: In) => Promise<Out>,
  { atOnce, milliseconds }: typeof compileLimits,
): (grammar: In) => Promise<Out> {
  const limit = pLimit(atOnce);
  return async (grammar) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const message = `the form that the request asks for was not compiled after ${String(milliseconds / 1000)} s: make it smaller, with fewer and shorter repetitions`;
      timer = setTimeout(() => reject(new FailureError('GrammarInvalid', message)), milliseconds);
    });
    try {
      return await Promise.race([limit(compile, grammar), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

function noTokenizer(): FailureError {
  return new FailureError(
    'GrammarInvalid',
    'the checkpoint has no tokenizer, so answers cannot be given a form',
  );
}
