// Processes that do what strangers may ask for without end run behind the threads that serve: on a machine without a free
// core, streams wait for the scheduler otherwise, however little the server itself computes.

import { setPriority } from 'node:os';

/** Niceness: a tenth of the processor time of a process that serves, and all that nobody else needs. */
const niceness = 10;

/** @param pid of a process that was just started: its threads to come inherit it; undefined: it was not */
export function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended already, which whoever started it learns.
  }
}
