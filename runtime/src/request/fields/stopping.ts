// What ends an answer, and what of its end the client sees.

import type { StopPattern } from '../../tokens/stop-pattern.js';
import { boolean, stopString, tokenId } from '../body/field-schemas.js';
import { all, type FieldTable, type TableValues } from '../body/field-table.js';
import { violationAt, type Violation } from '../body/violation.js';
import { readStopPatterns } from './stop-patterns.js';

/** vLLM's Responses take them too. */
const routes = [...all, 'responses'] as const;

export const stopFields = {
  stop: {
    routes,
    schema: { ...stopString, type: ['string', 'array'], maxItems: 16, items: stopString },
  },
} as const satisfies FieldTable;

export const endFields = {
  // SGLang's.
  stop_regex: {
    routes: all,
    schema: { ...stopString, type: ['string', 'array'], maxItems: 16, items: stopString },
  },
  stop_token_ids: { routes, schema: { type: 'array', maxItems: 128, items: tokenId } },
  include_stop_str_in_output: { routes, schema: boolean },
  ignore_eos: { routes, schema: boolean },
  skip_special_tokens: { routes, schema: boolean },
} as const satisfies FieldTable;

type StopFields = TableValues<typeof stopFields & typeof endFields>;

export interface Stopping {
  readonly stopStrings: readonly string[];
  readonly stopPatterns: readonly StopPattern[];
  readonly stopTokenIds: readonly number[];
  readonly includeStopString: boolean;
  readonly ignoreEos: boolean;
  readonly skipSpecialTokens: boolean;
}

/** Where the request does not say. */
export const modelsStopping: Stopping = {
  stopStrings: [],
  stopPatterns: [],
  stopTokenIds: [],
  includeStopString: false,
  ignoreEos: false,
  skipSpecialTokens: true,
};

/** @throws ApiError invalid_request about a pattern that cannot be searched for */
export function readStopping(fields: StopFields): Stopping {
  const { stop = [] } = fields;
  return {
    stopStrings: typeof stop === 'string' ? [stop] : stop,
    stopPatterns: fields.stop_regex === undefined ? [] : readStopPatterns(fields.stop_regex),
    stopTokenIds: fields.stop_token_ids ?? [],
    includeStopString: fields.include_stop_str_in_output === true,
    ignoreEos: fields.ignore_eos === true,
    skipSpecialTokens: fields.skip_special_tokens !== false,
  };
}

export function violationsOfStopping({ ignore_eos }: StopFields, hasFormat: boolean): Violation[] {
  const rule = 'and structured output exclude each other: the grammar ends the answer';
  return ignore_eos === true && hasFormat ? [violationAt('ignore_eos', rule)] : [];
}
