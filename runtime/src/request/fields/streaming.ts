// Whether the answer is a stream, and what its chunks report of usage.

import { boolean, nullableBoolean } from '../body/field-schemas.js';
import { openAi, typed, type FieldTable, type TableValues } from '../body/field-table.js';
import { violationAt, type Violation } from '../body/violation.js';

export const streamFields = {
  stream: { routes: [...openAi, ...typed], schema: boolean },
  stream_options: {
    routes: openAi,
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        include_usage: nullableBoolean,
        // vLLM's: usage so far on every chunk.
        continuous_usage_stats: nullableBoolean,
        // OpenAI's: chunks are padded.
        include_obfuscation: nullableBoolean,
      },
    },
  },
} as const satisfies FieldTable;

type StreamFields = TableValues<typeof streamFields>;

export interface Streaming {
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Each chunk of a stream reports the usage so far. */
  readonly continuousUsage: boolean;
  /** Events are padded, so that their sizes do not show how long their texts are. */
  readonly obfuscates: boolean;
}

export function readStreaming({ stream, stream_options: options }: StreamFields): Streaming {
  return {
    stream: stream === true,
    includeUsage: options?.include_usage === true,
    continuousUsage: options?.continuous_usage_stats === true,
    obfuscates: options?.include_obfuscation === true,
  };
}

export function violationsOfStreaming({ stream, stream_options: options }: StreamFields): Violation[] {
  return options !== undefined && stream !== true
    ? [violationAt('stream_options', 'needs stream: true')]
    : [];
}
