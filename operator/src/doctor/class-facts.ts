// The classes of the cluster as the checks know them. Pure.

import { knownClasses, type KnownClasses } from '../plan/class/known-classes.js';
import type { ClusterFacts } from './facts.js';

/** Who may not read them resolves by what services took. */
export function classesOf(reading: ClusterFacts['serviceClasses']): KnownClasses {
  if (reading.state !== 'read') return { state: 'forbidden' };
  return reading.value === null ? { state: 'absent' } : knownClasses(reading.value);
}
