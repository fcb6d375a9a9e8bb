// Moments for tests, of clocks that agree.

import type { Moment } from './moment.js';

export const momentOf = (ms: number): Moment => ({ steadyMs: ms, unixMs: ms, dayMs: ms });
