// What clients of another server count on where the protocols leave it open, by the name of that server.

import type { SamplingDefaults } from './fields/sampling.js';

export interface Compatibility {
  /** Whether the model thinks about conversations that do not say; null: as the chat template has it. */
  readonly thinks: boolean | null;
  /** Whether prompts without a chat template are sampled as with thinking; null: if the template thinks by default. */
  readonly thinksOnTexts: boolean | null;
  /** What counts before the checkpoint's. */
  readonly sampling: SamplingDefaults;
  readonly minThinkingBudget: number;
  /** Whether the last chunk of a chat carries the usage even if nobody asked, as that of completions does. */
  readonly usageOnLastChunk: boolean;
  /** Whether :predict takes any name as `model`: the path has the one that counts. */
  readonly predictIgnoresModel: boolean;
  /** Each served name is served with this before it too; null: as it is alone. */
  readonly namePrefix: string | null;
  /** Whether /v1/models/NAME/openai/v1/… is /openai/v1/…. */
  readonly pathsPerModel: boolean;
}

const none: Compatibility = {
  thinks: null,
  thinksOnTexts: null,
  sampling: { thinking: {}, plain: {} },
  minThinkingBudget: -1,
  usageOnLastChunk: false,
  predictIgnoresModel: false,
  namePrefix: null,
  pathsPerModel: false,
};

/** Of both modes of Lift Wing's: vLLM's neutral values, so that the checkpoint's do not count. */
const inBoth = { top_k: 20, min_p: 0, frequency_penalty: 0, repetition_penalty: 1 };

/** Source: src/models/qwen36 and benchmarks of Wikimedia's machinelearning-liftwing-inference-services. */
const liftwing: Compatibility = {
  thinks: false,
  thinksOnTexts: true,
  sampling: {
    thinking: { ...inBoth, temperature: 1, top_p: 0.95, presence_penalty: 0 },
    plain: { ...inBoth, temperature: 0.7, top_p: 0.8, presence_penalty: 1.5 },
  },
  minThinkingBudget: 1,
  usageOnLastChunk: true,
  predictIgnoresModel: true,
  namePrefix: 'llm-',
  pathsPerModel: true,
};

export const compatibilities = { none, liftwing } as const satisfies Readonly<Record<string, Compatibility>>;
export type CompatibilityName = keyof typeof compatibilities;

export const isCompatibilityName = (name: string): name is CompatibilityName =>
  Object.hasOwn(compatibilities, name);
