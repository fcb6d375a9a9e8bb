// The families of fields of requests that generate, and those of which a body has a field. Only these are read; the others
// are what they are by default, and most bodies have few.

import { alternativesFields, detailFields, echoField, logprobsOf } from '../fields/answer-details.js';
import { formatFields, schemaField } from '../fields/answer-format.js';
import { bestOf, choiceFields, seedFields } from '../fields/choices.js';
import { maxTokensFields } from '../fields/max-tokens.js';
import { endingFields } from '../fields/prompt-ending.js';
import { repetitionFields } from '../fields/repetition.js';
import { endFields, stopFields } from '../fields/stopping.js';
import { thinkingBudgetFields, thinkingFields } from '../fields/thinking.js';
import { tokenRuleFields } from '../fields/token-rules.js';
import { toolFields } from '../fields/tool-fields.js';

/** The tables that have all fields without which a family is as by default. */
const tables = {
  format: [formatFields, schemaField],
  tools: [toolFields],
  choices: [choiceFields, bestOf],
  seed: [seedFields],
  maxTokens: [maxTokensFields],
  // The answer may leave out what the model thinks.
  details: [detailFields, alternativesFields, logprobsOf.chat, echoField, thinkingFields],
  thinking: [thinkingFields, thinkingBudgetFields],
  rules: [tokenRuleFields],
  repetition: [repetitionFields],
  stopping: [stopFields, endFields],
  ending: [endingFields],
} as const satisfies Readonly<Record<string, readonly object[]>>;

export type FieldFamily = keyof typeof tables;

export const fieldFamilies = Object.keys(tables) as FieldFamily[];

/** Names of the fields of a family. */
export const fieldsOf = (family: FieldFamily): readonly string[] =>
  tables[family].flatMap((table) => Object.keys(table));

/** By the name of a field. */
const familiesOf = new Map<string, FieldFamily[]>();
for (const family of fieldFamilies)
  for (const name of fieldsOf(family)) familiesOf.set(name, [...(familiesOf.get(name) ?? []), family]);

/** Those of which the body has a field. */
export function familiesIn(body: object): ReadonlySet<FieldFamily> {
  const found = new Set<FieldFamily>();
  for (const name of Object.keys(body)) for (const family of familiesOf.get(name) ?? []) found.add(family);
  return found;
}
