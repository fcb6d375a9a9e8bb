// Query parameters of the lists of files and of batches.

const paging = {
  after: { type: 'string', description: 'Id of the entry that the page begins after' },
} as const;

export const listFilesQuery = {
  ...paging,
  limit: { type: 'integer', minimum: 1, maximum: 10_000, description: 'Max files to return; 100 without it' },
  order: { enum: ['asc', 'desc'], description: 'desc without it: the newest file first' },
  purpose: { enum: ['batch', 'batch_output'], description: 'Files of this purpose alone' },
} as const;

export const listBatchesQuery = {
  ...paging,
  limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Max batches to return; 20 without it' },
} as const;
