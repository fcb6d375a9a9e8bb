// vLLM's repetition_detection: an answer ends once its last tokens are one pattern, again and again.

import type { RepetitionRule } from '../../tokens/repetition-detector.js';
import { all, type FieldTable, type TableValues } from '../body/field-table.js';
import { violationAt, type Violation } from '../body/violation.js';

/** Tokens of the longest pattern: each generated token is compared with as many before it. */
const maxPatternSize = 4096;

export const repetitionFields = {
  repetition_detection: {
    routes: all,
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        // 0: nothing is detected.
        max_pattern_size: { type: 'integer', minimum: 0, maximum: maxPatternSize },
        // 0 is 1.
        min_pattern_size: { type: 'integer', minimum: 0, maximum: maxPatternSize },
        min_count: { type: 'integer', minimum: 0, maximum: 1_000_000 },
      },
    },
  },
} as const satisfies FieldTable;

type RepetitionFields = TableValues<typeof repetitionFields>;

/** Null: none does. */
export function readRepetition(fields: RepetitionFields): RepetitionRule | null {
  const { minSize, maxSize, minCount } = asAsked(fields);
  return maxSize === 0 ? null : { minSize: Math.max(1, minSize), maxSize, minCount };
}

export function violationsOfRepetition(fields: RepetitionFields): Violation[] {
  const { minSize, maxSize, minCount } = asAsked(fields);
  const violations: Violation[] = [];
  const refuse = (member: string, rule: string): number =>
    violations.push(violationAt(`repetition_detection.${member}`, rule));
  if (minSize > maxSize)
    refuse('min_pattern_size', `must be at most max_pattern_size, which is ${String(maxSize)}`);
  if (maxSize > 0 && minCount < 2)
    refuse('min_count', 'must be at least 2: so often a pattern comes in a row');
  return violations;
}

function asAsked({ repetition_detection: asked }: RepetitionFields): RepetitionRule {
  return {
    minSize: asked?.min_pattern_size ?? 0,
    maxSize: asked?.max_pattern_size ?? 0,
    minCount: asked?.min_count ?? 0,
  };
}
