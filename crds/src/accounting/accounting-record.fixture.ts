import type { AccountingRecord } from './accounting-record.js';

export const accountingRecord: AccountingRecord = {
  time: '2026-03-01T09:59:59.000Z',
  id: 'one',
  key: 'a',
  route: '/v1/completions',
  model: 'tiny',
  promptTokens: 10,
  cachedTokens: 4,
  completionTokens: 5,
  reasoningTokens: 2,
  textTokens: 0,
  finish: ['stop'],
};
