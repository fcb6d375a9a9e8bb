// Which model is asked, who asks, and when the engine takes the request.

import { everyOpenAi, all, openAi, typed, type FieldTable, type TableValues } from '../body/field-table.js';
import { text } from '../body/field-schemas.js';

export const modelFields = {
  model: {
    routes: [...everyOpenAi, ...typed, 'countTokens', 'generate', 'tokenize', 'detokenize', 'template'],
    schema: text,
  },
} as const satisfies FieldTable;

export const schedulingFields = {
  cache_salt: {
    routes: [...everyOpenAi, ...typed],
    schema: { type: 'string', minLength: 1, maxLength: 256 },
  },
  // As in vLLM, lower is sooner.
  priority: {
    routes: [...all, ...typed, 'embeddings'],
    schema: { type: 'integer', minimum: -8, maximum: 8 },
  },
  max_queue_seconds: {
    routes: [...all, ...typed, 'embeddings'],
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 86400 },
  },
} as const satisfies FieldTable;

export const callerFields = {
  // Whose share of the engine the request takes while others wait.
  user: { routes: [...everyOpenAi, 'responses'], schema: text },
  // Labels of the caller: they ask for nothing.
  metadata: { routes: [...openAi, 'responses'], schema: { type: 'object' } },
  // Codex's, of itself.
  client_metadata: { routes: ['responses'], schema: { type: 'object' } },
  safety_identifier: { routes: [...openAi, 'responses'], schema: text },
  prompt_cache_key: { routes: [...openAi, 'responses'], schema: text },
} as const satisfies FieldTable;

export interface Scheduling {
  /** Only requests with the same salt share cached prefixes; null: all that have none. */
  readonly cacheSalt: string | null;
  /** Whose share of the engine it takes. */
  readonly fairnessKey: string;
  /** Null: it did not say. */
  readonly priority: number | null;
  readonly maxQueueMs: number | null;
}

/** The name that the client asked for; null: it did not say. */
export const readModel = ({ model }: TableValues<typeof modelFields>): string | null => model ?? null;

export function readScheduling({
  cache_salt,
  user,
  priority,
  max_queue_seconds,
}: TableValues<typeof schedulingFields & Pick<typeof callerFields, 'user'>>): Scheduling {
  return {
    cacheSalt: cache_salt ?? null,
    fairnessKey: user ?? '',
    priority: priority ?? null,
    maxQueueMs: max_queue_seconds === undefined ? null : max_queue_seconds * 1000,
  };
}
