// What a checkpoint's small files say about generation.

import type { GgufHeader } from '@llmservice/checkpoint';
import { harmonyTokens } from '../harmony/harmony-tokens.js';
import { checkpointDefaults, type CheckpointDefaults } from '../request/fields/generation-defaults.js';
import { specialTokensOf } from '../tokens/chat-template.js';
import { ggufEosIds } from '../tokens/gguf-tokenizer.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { readSmallJson } from './read-small-json.js';

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
  const config =
    gguf === null ? await readSmallJson(folder, 'config.json') : { eos_token_id: ggufEosIds(gguf) };
  const { eos_token: eos } = specialTokensOf((await readSmallJson(folder, 'tokenizer_config.json')) ?? {});
  const defaults = checkpointDefaults(
    await readSmallJson(folder, 'generation_config.json'),
    config ?? {},
    eos === undefined ? null : tokenizer.tokenId(eos),
  );
  return { ...defaults, eosIds: [...new Set([...defaults.eosIds, ...endsOfCalls(tokenizer)])] };
}

/** Not every file of a model whose calls end an answer names the token that does. */
function endsOfCalls(tokenizer: Pick<Tokenizer, 'tokenId'>): number[] {
  const harmony = harmonyTokens(tokenizer);
  if (harmony !== null) return [harmony.return, harmony.call];
  // Gemma 4 begins the result of its calls, which others give.
  const [call, result] = ['<|tool_call>', '<|tool_response>'].map((text) => tokenizer.tokenId(text));
  return typeof call === 'number' && typeof result === 'number' ? [result] : [];
}
