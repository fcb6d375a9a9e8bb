// A batch that has been created, with changes.

import { noUsage, type Batch } from './batch.js';

export const batchWith = (changes: Partial<Batch> = {}): Batch => ({
  id: `batch_${'1'.repeat(32)}`,
  owner: 'a',
  endpoint: '/v1/chat/completions',
  inputFileId: `file-${'2'.repeat(32)}`,
  metadata: null,
  status: 'validating',
  at: {},
  createdAt: 1_000,
  expiresAt: 86_401_000,
  errors: [],
  total: 0,
  completed: 0,
  failed: 0,
  usage: noUsage,
  done: [],
  outputFileId: `file-${'3'.repeat(32)}`,
  errorFileId: `file-${'4'.repeat(32)}`,
  outputs: [],
  failures: [],
  lease: null,
  losses: 0,
  ...changes,
});
