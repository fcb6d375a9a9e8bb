// A family is read only of bodies that have one of its fields: read of any other body, it has to be as by default.

import { describe, expect, test } from '@jest/globals';
import { noDefaults } from '../fields/generation-defaults.fixture.js';
import {
  alternativesOf,
  noDetails,
  readDetails,
  violationsOfAlternatives,
  violationsOfDetails,
} from '../fields/answer-details.js';
import { readAnswerFormat } from '../fields/answer-format.js';
import { oneChoice, readChoices, readSeed, violationsOfChoices } from '../fields/choices.js';
import {
  defaultMaxTokens,
  maxTokensField,
  readMaxTokens,
  violationsOfMaxTokens,
  violationsOfNone,
} from '../fields/max-tokens.js';
import { readEnding, violationsOfEnding } from '../fields/prompt-ending.js';
import { readTools } from '../fields/read-tools.js';
import { readRepetition, violationsOfRepetition } from '../fields/repetition.js';
import { modelsStopping, readStopping, violationsOfStopping } from '../fields/stopping.js';
import {
  readTemplateKwargs,
  readThinkingBudget,
  readThinks,
  thinksUnlessSaid,
  violationsOfBudget,
} from '../fields/thinking.js';
import { readRules, violationsOfReported, violationsOfRules } from '../fields/token-rules.js';
import type { GenerationFields } from '../validate/request-fields.js';
import { familiesIn, fieldFamilies, fieldsOf, type FieldFamily } from './field-families.js';

type Read = (fields: GenerationFields) => unknown;

const kinds = ['chat', 'completions', 'predict', 'generate'] as const;
const { compatibility } = noDefaults;

/** What is read of each family, and what it is by default. */
const reads: Readonly<Record<FieldFamily, readonly (readonly [Read, unknown])[]>> = {
  format: [[readAnswerFormat, null]],
  tools: [[readTools, null]],
  choices: [
    [readChoices, oneChoice],
    [violationsOfChoices, []],
  ],
  seed: [[(fields) => readSeed(fields, 7n), 7n]],
  maxTokens: [
    ...kinds.map(
      (kind) => [(fields: GenerationFields) => readMaxTokens(kind, fields), defaultMaxTokens[kind]] as const,
    ),
    [maxTokensField, 'max_tokens'],
    [violationsOfNone, []],
    [violationsOfMaxTokens, []],
  ],
  details: [
    [readDetails, noDetails],
    [(fields) => alternativesOf(readDetails(fields), false), null],
    [violationsOfAlternatives, []],
    [violationsOfDetails, []],
  ],
  thinking: [
    ...kinds.map(
      (kind) =>
        [(fields: GenerationFields) => readThinks(kind, fields, null), thinksUnlessSaid[kind]] as const,
    ),
    [(fields) => readThinks('predict', fields, true), true],
    [readTemplateKwargs, {}],
    [readThinkingBudget, null],
    [(fields) => violationsOfBudget(fields, compatibility), []],
  ],
  rules: [
    [readRules, null],
    [(fields) => violationsOfRules(fields, 1, true), []],
    [(fields) => violationsOfReported(fields, 1, 100), []],
  ],
  repetition: [
    [readRepetition, null],
    [violationsOfRepetition, []],
  ],
  stopping: [
    [readStopping, modelsStopping],
    [(fields) => violationsOfStopping(fields, true), []],
  ],
  ending: [
    [readEnding, 'answer'],
    [violationsOfEnding, []],
  ],
};

/** A body with every field that there could be but for those of one family. */
const withoutFieldsOf = (family: FieldFamily): GenerationFields =>
  new Proxy({}, { get: (_, name) => (fieldsOf(family).includes(String(name)) ? undefined : true) });

describe.each(fieldFamilies)('%s', (family) => {
  test('is as by default without its fields, whatever else a body has', () => {
    for (const [read, byDefault] of reads[family]) expect(read(withoutFieldsOf(family))).toEqual(byDefault);
  });

  test('is found by each of its fields', () => {
    for (const name of fieldsOf(family)) expect(familiesIn({ [name]: true })).toContain(family);
  });
});

test('a plain chat has none', () => {
  expect(familiesIn({ model: 'tiny', stream: true, messages: [] }).size).toBe(0);
});
