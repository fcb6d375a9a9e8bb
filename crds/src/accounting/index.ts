// The accounting log as replicas of services and routers of gateways write it, and continue with what it has of the day.

export { AccountingLog } from './accounting-log.js';
export type { AccountingRecord, GatewayRecord } from './accounting-record.js';
export { LineBuffer } from './line-buffer.js';
export type { LineEvents } from './line-buffer.js';
export { restoreBudgets } from './restore-budgets.js';
