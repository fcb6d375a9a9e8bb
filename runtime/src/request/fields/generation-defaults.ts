// What the checkpoint says about generation: sampling defaults and the ids that end a text, from generation_config.json
// and config.json. The tokenizer's own end token ends a text as well, as in vLLM: who trains a model on chats often
// changes that one alone.

import type { Fields } from '../body/field-table.js';
import { checkpointSampling, type SamplingFields } from './sampling.js';

export interface GenerationDefaults {
  readonly sampling: SamplingFields;
  /** End-of-text ids, of which there may be several. */
  readonly eosIds: readonly number[];
}

/**
 * @param generationConfig parsed generation_config.json; null where there is none
 * @param config parsed config.json: its eos_token_id counts where generation_config.json has none
 * @param tokenizerEos the tokenizer's end token; null: it names none
 */
export function generationDefaults(
  generationConfig: Fields | null,
  config: Fields,
  tokenizerEos: number | null = null,
): GenerationDefaults {
  const given = generationConfig ?? {};
  const textConfig = (config['text_config'] ?? {}) as Fields;
  return {
    sampling: checkpointSampling(given),
    eosIds: idsOf([
      given['eos_token_id'] ?? config['eos_token_id'] ?? textConfig['eos_token_id'],
      tokenizerEos,
    ]),
  };
}

/** @param values ids, and lists of them */
function idsOf(values: readonly unknown[]): number[] {
  return [...new Set(values.flat().filter((id): id is number => Number.isInteger(id)))];
}
