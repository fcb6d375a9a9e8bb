// The body that creates a batch, as OpenAI has it.

import { never, text } from '../body/field-schemas.js';

/** Routes that a batch may be of. */
export const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/responses',
] as const;
export type BatchEndpoint = (typeof batchEndpoints)[number];

export const batchFields = {
  input_file_id: text,
  endpoint: { enum: batchEndpoints },
  completion_window: { enum: ['24h'] },
  metadata: {
    type: 'object',
    maxProperties: 16,
    propertyNames: { maxLength: 64 },
    additionalProperties: { type: 'string', maxLength: 512 },
  },
} as const;

export const refusedBatchFields = {
  output_expires_after: { ...never, description: 'files are kept for as long as the server is set to' },
} as const;
