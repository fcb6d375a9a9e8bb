// What clients ask of an answer's form, compiled over the checkpoint's own vocabulary. The tokenizer is read while the
// weights load; a checkpoint without one serves everything else.

import { FailureError, type FailureReason } from '@llmservice/crds';
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
  /**
   * @param wanted aborted once nobody waits for it: then it is not begun
   * @throws an error with reason GrammarInvalid or QueueTimeout, whose message tells the client why
   */
  compile(grammar: GrammarText, wanted: AbortSignal): Promise<CompiledGrammar>;
}

export interface TokenizerFiles {
  readonly tokenizer: Tokenizer;
  readonly eosIds: readonly number[];
}

/** @param model the checkpoint: its folder, or its GGUF file. Null: it has no tokenizer that can be used. */
export async function readTokenizerFiles(model: string): Promise<TokenizerFiles | null> {
  try {
    const { dir, gguf } = await openLocalModel(model);
    const tokenizer = await readTokenizer(dir, gguf);
    return { tokenizer, eosIds: (await readGenerationDefaults(dir, gguf, tokenizer)).eosIds };
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
 * end of its work. Waiting for a turn has the same limit, and is no fault of the form that waits.
 */
export function bounded<In, Out>(
  compile: (grammar: In) => Promise<Out>,
  { atOnce, milliseconds }: typeof compileLimits,
): (grammar: In, wanted: AbortSignal) => Promise<Out> {
  const limit = pLimit(atOnce);
  const seconds = String(milliseconds / 1000);
  return (grammar, wanted) =>
    new Promise((resolve, reject) => {
      const refusal = new AbortController();
      const refuseLate = (reason: FailureReason, message: string): NodeJS.Timeout =>
        setTimeout(() => {
          refusal.abort();
          reject(new FailureError(reason, message));
        }, milliseconds);
      let clock = refuseLate(
        'QueueTimeout',
        `the form that the request asks for waited ${seconds} s for others to be compiled`,
      );
      const inTurn = async (): Promise<Out> => {
        refusal.signal.throwIfAborted();
        wanted.throwIfAborted();
        clearTimeout(clock);
        clock = refuseLate(
          'GrammarInvalid',
          `the form that the request asks for was not compiled after ${seconds} s: make it smaller, with fewer and shorter repetitions`,
        );
        return compile(grammar);
      };
      limit(inTurn)
        .then(resolve, reject)
        .finally(() => clearTimeout(clock));
    });
}

function noTokenizer(): FailureError {
  return new FailureError(
    'GrammarInvalid',
    'the checkpoint has no tokenizer, so answers cannot be given a form',
  );
}
