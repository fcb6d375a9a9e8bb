// Moments for tests, of clocks that agree.

import type { Moment } from '@llmservice/crds/keys';

export const momentOf = (ms: number): Moment => ({ steadyMs: ms, unixMs: ms, dayMs: ms });
