// What a checkpoint's small files say about generation.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkSmallFile, isObject, parseSmallJson, type GgufHeader } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { harmonyTokens } from '../harmony/harmony-tokens.js';
import { checkpointDefaults, type CheckpointDefaults } from '../request/fields/generation-defaults.js';
import { specialTokensOf } from '../tokens/chat-template.js';
import { ggufEosIds } from '../tokens/gguf-tokenizer.js';
import type { Tokenizer } from '../tokens/tokenizer.js';

/**
 * @param folder where generation_config.json may lie, config.json and tokenizer_config.json
 * @param gguf of the GGUF file that the checkpoint is, whose keys take config.json's place; null for safetensors
 * @throws FailureError CheckpointCorrupt, TokenizerInvalid
 */
export async function readCheckpointDefaults(
  folder: string,
  gguf: GgufHeader | null,
  tokenizer: Pick<Tokenizer, 'tokenId'>,
): Promise<CheckpointDefaults> {
  const config = gguf === null ? await readJson(folder, 'config.json') : { eos_token_id: ggufEosIds(gguf) };
  const { eos_token: eos } = specialTokensOf((await readJson(folder, 'tokenizer_config.json')) ?? {});
  const defaults = checkpointDefaults(
    await readJson(folder, 'generation_config.json'),
    config ?? {},
    eos === undefined ? null : tokenizer.tokenId(eos),
  );
  // Not every file of such a model names the token that ends a call.
  const harmony = harmonyTokens(tokenizer);
  const ends = harmony === null ? [] : [harmony.return, harmony.call];
  return { ...defaults, eosIds: [...new Set([...defaults.eosIds, ...ends])] };
}

async function readJson(folder: string, name: string): Promise<Readonly<Record<string, unknown>> | null> {
  const path = join(folder, name);
  try {
    checkSmallFile(name, (await stat(path)).size);
    const value = parseSmallJson(name, await readFile(path, 'utf8'));
    if (isObject(value)) return value;
  } catch (error) {
    if (error instanceof FailureError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const problem = `${name}: ${(error as Error).message}`;
    throw new FailureError('CheckpointCorrupt', problem, { file: name }, { cause: error });
  }
  throw new FailureError('CheckpointCorrupt', `${name} is not a JSON object`, { file: name });
}
