// Query parameters of the routes of stored responses.

import { sealedReasoning, textLogprobs } from '../../request/fields/responses-fields.js';

const include = {
  type: 'array',
  items: { enum: [sealedReasoning, textLogprobs] },
  description:
    'What items are to have too: reasoning encoded, and log probabilities where they were asked for',
} as const;

/** What the client has of a stream that runs in the background, and whether it wants the rest. */
export const retrieveQuery = {
  include,
  stream: {
    type: 'boolean',
    description: 'Send the events of a response that was created with background and stream',
  },
  starting_after: {
    type: 'integer',
    minimum: 0,
    description: 'Sequence number of the last event that the client has',
  },
  include_obfuscation: {
    type: 'boolean',
    description: 'Add random characters to events, so that their sizes do not show how long their texts are',
  },
} as const;

export const inputItemsQuery = {
  include,
  limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Most items to return; 20 without it' },
  order: { enum: ['asc', 'desc'], description: 'desc without it: the newest item first' },
  after: { type: 'string', description: 'Id of the item that the page begins after' },
} as const;
