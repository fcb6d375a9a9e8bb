// The labels of a model that classifies, as transformers' classes of that name have them: how many, their names, and what
// makes probabilities of their logits.

import { type ConfigObject, type FieldReader, isObject } from './config-fields.js';

/** transformers' class of a checkpoint that has a head for labels on top of a causal model. */
const classifies = /ForSequenceClassification$/;

/** What becomes of logits: probabilities that sum to one, those of each label by itself, or nothing. */
export type LabelActivation = 'softmax' | 'sigmoid' | 'none';

export interface Labels {
  readonly names: readonly string[];
  readonly activation: LabelActivation;
}

/** How many; 0: the model generates. */
export function readLabels(fields: FieldReader): number {
  const architectures = fields.value('architectures');
  const [first] = Array.isArray(architectures) ? (architectures as unknown[]) : [];
  // vLLM's overrides make that class of a causal model: its labels are tokens.
  if (typeof first !== 'string' || !classifies.test(first) || fields.has('classifier_from_token')) return 0;
  const named = Object.keys(namesIn(fields.value('id2label'))).length;
  return fields.positive('num_labels', named === 0 ? 2 : named);
}

/** @param count by `readLabels`, of the same config.json */
export function labelsOf(config: ConfigObject, count: number): Labels {
  const names = namesIn(config['id2label']);
  return {
    names: Array.from({ length: count }, (_, label) => names[String(label)] ?? `LABEL_${String(label)}`),
    activation: activationOf(config['problem_type'], count),
  };
}

/** As vLLM has it, which has transformers' problem_type decide. */
function activationOf(problem: unknown, count: number): LabelActivation {
  if (problem === 'regression') return 'none';
  return problem === 'multi_label_classification' || count === 1 ? 'sigmoid' : 'softmax';
}

function namesIn(given: unknown): Readonly<Record<string, string>> {
  if (!isObject(given)) return {};
  const named = Object.entries(given).filter((each): each is [string, string] => typeof each[1] === 'string');
  return Object.fromEntries(named);
}
