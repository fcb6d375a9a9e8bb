// Several answers to one prompt (OpenAI's n and best_of), and what each draws with.

import { openAi, all, type FieldTable, type TableValues, type ValuesOf } from '../body/field-table.js';
import { violationAt, type Violation } from '../body/violation.js';

export const choiceFields = {
  n: { routes: openAi, schema: { type: 'integer', minimum: 1, maximum: 128 } },
} as const satisfies FieldTable;

export const seedFields = {
  seed: { routes: [...all, 'responses'], schema: { type: 'integer' } },
} as const satisfies FieldTable;

/** Of completions. */
export const bestOf = { best_of: { type: 'integer', minimum: 1, maximum: 128 } } as const;

type ChoiceFields = TableValues<typeof choiceFields> & ValuesOf<typeof bestOf>;

export interface Choices {
  /** Answers that are given for each prompt. */
  readonly given: number;
  /** Answers that are generated for each prompt, of which the likeliest are given; at least as many. */
  readonly generated: number;
}

/** Where the request does not say. */
export const oneChoice: Choices = { given: 1, generated: 1 };

/** Answers of one request over all its prompts: as many as the prompts that it may have. */
const maxAnswers = 256;

export function readChoices({ n: given = 1, best_of: generated = given }: ChoiceFields): Choices {
  return { given, generated };
}

export function violationsOfChoices(
  fields: ChoiceFields & { readonly prompt?: unknown; readonly stream?: boolean | undefined },
): Violation[] {
  const { given, generated } = readChoices(fields);
  const { prompt, stream } = fields;
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;
  const violations: Violation[] = [];
  const conflict = (param: string, rule: string): number => violations.push(violationAt(param, rule));
  if (generated < given) conflict('best_of', `must be at least n, which is ${String(given)}`);
  if (generated > given && stream === true)
    conflict('best_of', 'must be n where stream is true: which answers are best is known only at their end');
  if (prompts * generated > maxAnswers) {
    const param = generated > given ? 'best_of' : 'n';
    conflict(
      param,
      `asks for ${String(generated)} answers to each of ${String(prompts)} prompts; a request may have ${String(maxAnswers)}`,
    );
  }
  return violations;
}

/** @param random where the request has none */
export function readSeed({ seed }: TableValues<typeof seedFields>, random: bigint): bigint {
  // The engine takes 64 bits without a sign; a negative seed keeps its own stream.
  return seed === undefined ? random : BigInt.asUintN(64, BigInt(seed));
}

/**
 * The seed of one of several answers: a pure function of the request's, which the first answer has itself, so that it is
 * the same whatever n is. The finalizer is that of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators"); the engine's noise uses it with other inputs.
 */
export function choiceSeed(seed: bigint, choice: number): bigint {
  if (choice === 0) return seed;
  const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
  let mixed = wrap(seed ^ wrap(BigInt(choice) * 0xd1342543de82ef95n));
  mixed = wrap((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
  mixed = wrap((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
  return mixed ^ (mixed >> 31n);
}
