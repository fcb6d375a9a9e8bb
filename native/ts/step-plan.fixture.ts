// A plan that asks for nothing, for tests to add to what they care for.

import type { StepPlan } from './binding.js';

const none = new Int32Array();

export const emptyPlan: StepPlan = {
  release: none,
  admit: [],
  replace: none,
  blocks: none,
  rows: none,
  saves: none,
  drafts: 0,
  warmup: null,
  ahead: false,
};
