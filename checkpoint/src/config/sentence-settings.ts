// What sentence-transformers puts before texts and how long it takes them, by its files beside a checkpoint:
// config_sentence_transformers.json names prompts, sentence_bert_config.json has the number of tokens.

import { parseSmallJson } from '../json/small-json.js';
import { type ConfigObject, isObject, quote } from './config-fields.js';
import { corruptModule } from './module-failures.js';

export const promptsFile = 'config_sentence_transformers.json';
export const lengthFile = 'sentence_bert_config.json';

export interface SentenceSettings {
  /** By name: what a text begins with. */
  readonly prompts: ReadonlyMap<string, string>;
  /** The name of that for texts whose request names none; null: nothing is put before them. */
  readonly defaultPrompt: string | null;
  /** Tokens of a text with its prompt and what the tokenizer adds; null: the context. */
  readonly maxTokens: number | null;
}

export const noSettings: SentenceSettings = { prompts: new Map(), defaultPrompt: null, maxTokens: null };

/**
 * @param config,length texts of the files; null: there is none
 * @throws FailureError CheckpointCorrupt
 */
export function readSettings(config: string | null, length: string | null): SentenceSettings {
  const fields = config === null ? {} : fieldsOf(promptsFile, config);
  const given = fields['prompts'] ?? {};
  const entries = isObject(given) ? Object.entries(given) : null;
  if (entries === null || !entries.every((entry): entry is [string, string] => typeof entry[1] === 'string'))
    throw corruptModule(promptsFile, `has prompts ${quote(given)}; expected texts by name`);
  const prompts = new Map(entries);
  const defaultPrompt = fields['default_prompt_name'] ?? null;
  if (defaultPrompt !== null && (typeof defaultPrompt !== 'string' || !prompts.has(defaultPrompt)))
    throw corruptModule(
      promptsFile,
      `has default_prompt_name ${quote(defaultPrompt)}; expected one of its prompts: ${[...prompts.keys()].join(', ')}`,
    );
  return {
    prompts,
    defaultPrompt,
    maxTokens: length === null ? null : maxTokensOf(fieldsOf(lengthFile, length)),
  };
}

function maxTokensOf({ max_seq_length: most = null }: ConfigObject): number | null {
  if (most === null || (Number.isInteger(most) && (most as number) > 0)) return most as number | null;
  throw corruptModule(lengthFile, `has max_seq_length ${quote(most)}; expected a whole number of tokens`);
}

function fieldsOf(file: string, text: string): ConfigObject {
  const value = parseSmallJson(file, text);
  if (isObject(value)) return value;
  throw corruptModule(file, 'is not a JSON object');
}
