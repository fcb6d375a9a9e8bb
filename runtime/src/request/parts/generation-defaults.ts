// What the checkpoint says about generation: sampling defaults and the ids that end a text.
// From generation_config.json and config.json; where they say nothing, OpenAI's defaults hold. The tokenizer's own end
// token ends a text as well, as in vLLM: who trains a model on chats often changes that one alone.

import { aboveZero } from '../body/request-fields.js';

type Json = Readonly<Record<string, unknown>>;

export interface SamplingDefaults {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  readonly repetitionPenalty: number;
}

export interface GenerationDefaults {
  readonly sampling: SamplingDefaults;
  /** End-of-text ids, of which there may be several. */
  readonly eosIds: readonly number[];
}

export const openAiSampling: SamplingDefaults = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  repetitionPenalty: 1,
};

/**
 * @param generationConfig parsed generation_config.json; null where there is none
 * @param config parsed config.json: its eos_token_id counts where generation_config.json has none
 * @param tokenizerEos the tokenizer's end token; null: it names none
 */
export function generationDefaults(
  generationConfig: Json | null,
  config: Json,
  tokenizerEos: number | null = null,
): GenerationDefaults {
  const given = generationConfig ?? {};
  // What no request may ask for is as good as not said.
  const number = (key: string, fallback: number, least: number, most: number): number => {
    const value = given[key];
    return typeof value === 'number' && value >= least && value <= most ? value : fallback;
  };
  const greedy = given['do_sample'] === false;
  const textConfig = (config['text_config'] ?? {}) as Json;
  return {
    sampling: {
      temperature: greedy ? 0 : number('temperature', openAiSampling.temperature, 0, 2),
      topP: number('top_p', openAiSampling.topP, aboveZero, 1),
      topK: number('top_k', openAiSampling.topK, -1, 2 ** 31 - 1),
      minP: number('min_p', openAiSampling.minP, 0, 1),
      repetitionPenalty: number('repetition_penalty', openAiSampling.repetitionPenalty, aboveZero, 2),
    },
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
