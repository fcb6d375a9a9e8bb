// What clients that count tokens themselves ask of a tokenizer, as vLLM answers it: tokenizer_config.json with special
// tokens as texts, and the chat template in force, wherever it is from.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GgufHeader } from '@llmservice/checkpoint';
import { parseJsonObject } from '@llmservice/crds';
import type { Fields } from '../request/body/field-table.js';
import { specialTokensOf, type ChatTemplate } from '../tokens/chat-template.js';
import { ggufSpecialTokens } from '../tokens/gguf-tokenizer.js';

const unsaid = { bos_token: null, eos_token: null, pad_token: null };
/** Where the checkpoint's author had it. */
const paths = ['name_or_path', '_name_or_path', 'vocab_file', 'merges_file', 'tokenizer_file'];

/**
 * @param folder where tokenizer_config.json may lie; what cannot be read of it is absent
 * @param gguf of the GGUF file that the checkpoint is; null for safetensors
 */
export async function readTokenizerInfo(
  folder: string,
  gguf: GgufHeader | null,
  template: ChatTemplate | null,
): Promise<Fields> {
  const file = await readFile(join(folder, 'tokenizer_config.json'), 'utf8').catch(() => '{}');
  const config: Fields = parseJsonObject('tokenizer_config.json', file);
  const kept = Object.entries(config).filter(([name]) => !paths.includes(name));
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    ...unsaid,
    ...(gguf === null ? {} : ggufSpecialTokens(gguf)),
    ...Object.fromEntries(kept),
    ...specialTokensOf(config),
    chat_template: template?.source.templates.find(({ name }) => name === 'default')?.template ?? null,
  };
}
