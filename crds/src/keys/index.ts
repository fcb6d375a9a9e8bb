// API keys as replicas of services and routers of gateways hold requests to them.

export { KeyBudget } from './key-budget.js';
export { rateLimitHeaders, remainingHeader } from './rate-limit-headers.js';
export type { Limit, LimitRefusal, RateLimit } from './key-budget.js';
export { KeyBudgets } from './key-budgets.js';
export { KeySet } from './key-set.js';
export { MomentClock } from './moment.js';
export type { Moment } from './moment.js';
export { presentedKey } from './presented-key.js';
export { nothingUsed, readUsage, usageText } from './usage-report.js';
export type { UsageReport } from './usage-report.js';
