// Sampling: how the next token is drawn from what the model gives. The fields of a request, what the checkpoint's
// generation_config.json says in their place, and the engine's parameters.

import { greedy, type SamplingParams } from '@llmservice/native';
import { aboveZero } from '../body/field-schemas.js';
import { all, typed, type Fields, type FieldTable, type TableValues } from '../body/field-table.js';

export const samplingFields = {
  temperature: { routes: [...all, 'responses'], schema: { type: 'number', minimum: 0, maximum: 2 } },
  top_p: { routes: [...all, ...typed], schema: { type: 'number', minimum: aboveZero, maximum: 1 } },
  top_k: { routes: [...all, ...typed], schema: { type: 'integer', minimum: -1, maximum: 2147483647 } },
  min_p: { routes: [...all, 'responses'], schema: { type: 'number', minimum: 0, maximum: 1 } },
  typical_p: { routes: all, schema: { type: 'number', minimum: aboveZero, maximum: 1 } },
} as const satisfies FieldTable;

export const penaltyFields = {
  presence_penalty: { routes: all, schema: { type: 'number', minimum: -2, maximum: 2 } },
  frequency_penalty: { routes: all, schema: { type: 'number', minimum: -2, maximum: 2 } },
  repetition_penalty: { routes: all, schema: { type: 'number', minimum: aboveZero, maximum: 2 } },
} as const satisfies FieldTable;

const fieldsOfFamily = { ...samplingFields, ...penaltyFields };
export type SamplingFields = TableValues<typeof fieldsOfFamily>;

/** Fields that generation_config.json has by the same names. */
const ofCheckpoints = ['temperature', 'top_p', 'top_k', 'min_p', 'repetition_penalty'] as const;

/** As in vLLM: what is divided by less leaves the range of floats. */
const greedyBelow = 1e-5;

/** @param config generation_config.json: what no request may ask for is as good as not said */
export function checkpointSampling(config: Fields): SamplingFields {
  const said = ofCheckpoints.flatMap((name) => {
    const { minimum, maximum } = fieldsOfFamily[name].schema;
    const value = config[name];
    return typeof value === 'number' && value >= minimum && value <= maximum ? [[name, value] as const] : [];
  });
  const likeliest = config['do_sample'] === false ? { temperature: 0 } : {};
  return { ...Object.fromEntries(said), ...likeliest };
}

/**
 * Where neither says anything, OpenAI's defaults hold.
 * @param defaults the checkpoint's
 * @returns all but what the answer reports
 */
export function readSampling(
  fields: SamplingFields,
  defaults: SamplingFields,
  seed: bigint,
): Omit<SamplingParams, 'topLogprobs'> {
  const value = (name: keyof SamplingFields, neutral: number): number =>
    fields[name] ?? defaults[name] ?? neutral;
  const temperature = value('temperature', 1);
  return {
    temperature: temperature < greedyBelow ? 0 : temperature,
    topP: value('top_p', greedy.topP),
    // -1 is vLLM's way to say off.
    topK: Math.max(0, value('top_k', greedy.topK)),
    minP: value('min_p', greedy.minP),
    typicalP: value('typical_p', greedy.typicalP),
    seed,
    repetitionPenalty: value('repetition_penalty', greedy.repetitionPenalty),
    presencePenalty: value('presence_penalty', greedy.presencePenalty),
    frequencyPenalty: value('frequency_penalty', greedy.frequencyPenalty),
  };
}
