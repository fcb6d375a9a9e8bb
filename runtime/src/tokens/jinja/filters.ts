// Jinja's filters by their names.

import type { Filter } from './runtime.js';
import { selectionFilters } from './selection-filters.js';
import { sequenceFilters } from './sequence-filters.js';
import { textFilters } from './text-filters.js';
import { valueFilters } from './value-filters.js';

export const filters: ReadonlyMap<string, Filter> = new Map([
  ...valueFilters,
  ...textFilters,
  ...sequenceFilters,
  ...selectionFilters,
]);
