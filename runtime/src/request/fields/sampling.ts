// Sampling: how the next token is drawn from what the model gives. The fields of a request, what the checkpoint's
// generation_config.json says in their place, and the engine's parameters. What holds may differ with thinking.

import { isObject } from '@llmservice/checkpoint';
import type { EngineConfig } from '@llmservice/crds';
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
  presence_penalty: { routes: [...all, 'responses'], schema: { type: 'number', minimum: -2, maximum: 2 } },
  frequency_penalty: { routes: [...all, 'responses'], schema: { type: 'number', minimum: -2, maximum: 2 } },
  repetition_penalty: {
    routes: [...all, 'responses'],
    schema: { type: 'number', minimum: aboveZero, maximum: 2 },
  },
} as const satisfies FieldTable;

const fieldsOfFamily = { ...samplingFields, ...penaltyFields };
export type SamplingFields = TableValues<typeof fieldsOfFamily>;

/** What holds where a request does not say, by whether the model thinks. */
export interface SamplingDefaults {
  readonly thinking: SamplingFields;
  readonly plain: SamplingFields;
}

/** Fields that generation_config.json has by the same names. */
const ofCheckpoints = ['temperature', 'top_p', 'top_k', 'min_p', 'repetition_penalty'] as const;
/** Fields of its `sampling_defaults`. */
const ofModes = [...ofCheckpoints, 'presence_penalty', 'frequency_penalty'] as const;

/** As in vLLM: what is divided by less leaves the range of floats. */
const greedyBelow = 1e-5;

/**
 * `sampling_defaults` with `thinking` and `plain` is our addition to the file: what differs from the rest of it by mode.
 * @param config generation_config.json: what no request may ask for is as good as not said
 */
export function checkpointSampling(config: Fields): SamplingDefaults {
  const likeliest = config['do_sample'] === false ? { temperature: 0 } : {};
  const inBoth = { ...said(config, ofCheckpoints), ...likeliest };
  const modes = asObject(config['sampling_defaults']);
  const of = (mode: keyof SamplingDefaults): SamplingFields => ({
    ...inBoth,
    ...said(asObject(modes[mode]), ofModes),
  });
  return { thinking: of('thinking'), plain: of('plain') };
}

function said(config: Fields, names: readonly (keyof SamplingFields)[]): SamplingFields {
  const entries = names.flatMap((name) => {
    const { minimum, maximum } = fieldsOfFamily[name].schema;
    const value = config[name];
    return typeof value === 'number' && value >= minimum && value <= maximum ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

const asObject = (value: unknown): Fields => (isObject(value) ? value : {});

/** The first of them that says something of a field counts. */
export function firstSampling(...all: readonly SamplingDefaults[]): SamplingDefaults {
  const of = (mode: keyof SamplingDefaults): SamplingFields =>
    Object.assign({}, ...all.map((each) => each[mode]).reverse()) as SamplingFields;
  return { thinking: of('thinking'), plain: of('plain') };
}

/** As the manifest writes them, in the names of its language. */
export function manifestSampling({ thinking, plain }: ManifestSampling): SamplingDefaults {
  return { thinking: fromManifest(thinking), plain: fromManifest(plain) };
}

type ManifestSampling = EngineConfig['engine']['samplingDefaults'];

const fromManifest = ({
  temperature,
  topP,
  topK,
  minP,
  presencePenalty,
  frequencyPenalty,
  repetitionPenalty,
}: NonNullable<ManifestSampling['plain']> = {}): SamplingFields =>
  withoutUnset({
    temperature,
    top_p: topP,
    top_k: topK,
    min_p: minP,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    repetition_penalty: repetitionPenalty,
  });

const withoutUnset = (fields: SamplingFields): SamplingFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * Where neither says anything, OpenAI's defaults hold.
 * @param defaults of the mode
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
