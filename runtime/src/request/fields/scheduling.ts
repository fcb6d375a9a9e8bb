// Which model is asked, who asks, and when the engine takes the request.

import {
  everyOpenAi,
  all,
  openAi,
  pooled,
  typed,
  type FieldTable,
  type TableValues,
} from '../body/field-table.js';
import { boolean, never, text } from '../body/field-schemas.js';

/** Characters of a name that the client gives its request. */
export const maxRequestName = 128;
/** How long an answer is to be. It has no effect: the model does not get it. */
export const verbosities = ['low', 'medium', 'high'] as const;

const openAiAnswers = [...openAi, 'responses'] as const;
const requestName = { type: 'string', minLength: 1, maxLength: maxRequestName } as const;

export const modelFields = {
  model: {
    routes: [
      ...all,
      ...pooled,
      ...typed,
      'countTokens',
      'tokenize',
      'detokenize',
      'derenderChat',
      'derenderCompletions',
      'template',
    ],
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
    routes: [...all, ...typed, ...pooled],
    schema: { type: 'integer', minimum: -8, maximum: 8 },
  },
  max_queue_seconds: {
    routes: [...all, ...typed, ...pooled],
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 86400 },
  },
} as const satisfies FieldTable;

export const callerFields = {
  // Whose share of the engine the request takes while others wait.
  user: { routes: [...everyOpenAi, 'responses'], schema: text },
  // Labels of the caller: they ask for nothing.
  metadata: { routes: openAiAnswers, schema: { type: 'object' } },
  // Codex's, of itself.
  client_metadata: { routes: ['responses'], schema: { type: 'object' } },
  safety_identifier: { routes: openAiAnswers, schema: text },
  prompt_cache_key: { routes: openAiAnswers, schema: text },
  session_id: { routes: [...all, 'responses'], schema: text },
  // The client's own names of the request, which logs show: vLLM's and SGLang's.
  request_id: { routes: [...all, 'responses', ...pooled], schema: requestName },
  rid: { routes: [...all, 'responses', ...pooled], schema: requestName },
  // One model is served in one way, nothing is stored, and every prefix is cached: these change none of it.
  service_tier: {
    routes: openAiAnswers,
    schema: { enum: ['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'] },
  },
  store: { routes: openAiAnswers, schema: boolean },
  prompt_cache_options: {
    routes: openAiAnswers,
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        mode: { enum: ['implicit', 'explicit', null] },
        ttl: { enum: ['30m', '12h', null] },
        prewarm: { enum: [false, null] },
        comparison_response_id: { ...never, description: 'what the cache missed is not compared' },
      },
    },
  },
  prompt_cache_retention: { routes: openAiAnswers, schema: { enum: ['in_memory', '24h'] } },
  verbosity: { routes: openAi, schema: { enum: verbosities } },
  // A prompt that is too long is refused in any case: nothing of it is dropped.
  truncation: { routes: ['responses'], schema: { enum: ['auto', 'disabled'] } },
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
