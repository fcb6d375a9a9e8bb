// JSON schemas of what a server stores for its clients: responses' items, conversations, files and batches.

import type { JsonSchema } from '../../request/body/field-table.js';
import { anyOrNull, members, object, only, page, ref, text, whole } from './schema-parts.js';

const file = object({
  id: text,
  object: only('file'),
  bytes: whole,
  created_at: whole,
  expires_at: whole,
  filename: text,
  purpose: { enum: ['batch', 'batch_output'] },
  status: only('processed'),
});
const batchStatuses = 'validating in_progress finalizing cancelling completed failed expired cancelled'.split(
  ' ',
);

export const storedAnswerSchemas = {
  DeletedResponse: object({ id: text, object: only('response'), deleted: only(true) }),
  ResponseItem: object({ id: text, type: text }),
  ResponseItems: page(ref('ResponseItem')),
  Conversation: object({ id: text, object: only('conversation'), created_at: whole, metadata: members }),
  DeletedConversation: object({ id: text, object: only('conversation.deleted'), deleted: only(true) }),
  File: file,
  Files: page(ref('File')),
  DeletedFile: object({ id: text, object: only('file'), deleted: only(true) }),
  FileContent: text,
  Batch: object({
    id: text,
    object: only('batch'),
    endpoint: text,
    model: text,
    errors: anyOrNull('object'),
    input_file_id: text,
    completion_window: text,
    status: { enum: batchStatuses },
    output_file_id: anyOrNull('string'),
    error_file_id: anyOrNull('string'),
    created_at: whole,
    expires_at: whole,
    request_counts: object({ total: whole, completed: whole, failed: whole }),
    usage: members,
    metadata: anyOrNull('object'),
  }),
  Batches: page(ref('Batch')),
} satisfies Record<string, JsonSchema>;
