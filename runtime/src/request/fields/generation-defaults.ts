// What holds where a request does not say. Of the checkpoint: sampling defaults and the ids that end a text, from
// generation_config.json and config.json. The tokenizer's own end token ends a text as well, as in vLLM: who trains a
// model on chats often changes that one alone. Before the checkpoint's counts what the server is set to.

import type { Fields } from '../body/field-table.js';
import type { Compatibility } from '../compatibility.js';
import { checkpointSampling, firstSampling, type SamplingDefaults } from './sampling.js';

export interface CheckpointDefaults {
  readonly sampling: SamplingDefaults;
  /** End-of-text ids, of which there may be several. */
  readonly eosIds: readonly number[];
}

/** What the server is set to. */
export interface ServerDefaults {
  /** As in `GenerationDefaults`. */
  readonly thinks: boolean | null;
  readonly sampling: SamplingDefaults;
  readonly compatibility: Compatibility;
  /** Whether requests may bring chat templates of their own. */
  readonly takesTemplates: boolean;
}

export interface GenerationDefaults extends CheckpointDefaults {
  readonly compatibility: Compatibility;
  readonly takesTemplates: boolean;
  /** Whether the model thinks about requests that do not say; null: as the chat template has it. */
  readonly thinks: boolean | null;
  /** Whether the chat template has it think then. */
  readonly thinksByItself: boolean;
}

/**
 * @param generationConfig parsed generation_config.json; null where there is none
 * @param config parsed config.json: its eos_token_id counts where generation_config.json has none
 * @param tokenizerEos the tokenizer's end token; null: it names none
 */
export function checkpointDefaults(
  generationConfig: Fields | null,
  config: Fields,
  tokenizerEos: number | null = null,
): CheckpointDefaults {
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

export function generationDefaults(
  checkpoint: CheckpointDefaults,
  { thinks, sampling, compatibility, takesTemplates }: ServerDefaults,
  thinksByItself: boolean,
): GenerationDefaults {
  return {
    ...checkpoint,
    sampling: firstSampling(sampling, compatibility.sampling, checkpoint.sampling),
    compatibility,
    takesTemplates,
    thinks: thinks ?? compatibility.thinks,
    thinksByItself,
  };
}

/** @param values ids, and lists of them */
function idsOf(values: readonly unknown[]): number[] {
  return [...new Set(values.flat().filter((id): id is number => Number.isInteger(id)))];
}
