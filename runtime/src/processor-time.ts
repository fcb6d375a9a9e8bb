// How long a process has had a processor. Reading is passed in, so that the rules can be tested on any machine.

import { readFileSync } from 'node:fs';

/** Of the kernel's interface, whatever the kernel itself counts in (USER_HZ). */
const ticksPerSecond = 100;

/** In milliseconds, of all its threads; null: it cannot be known. Source: proc_pid_stat(5), utime and stime. */
export function processorMs(pid: number, read: (path: string) => string = readText): number | null {
  try {
    const stat = read(`/proc/${String(pid)}/stat`);
    // The name before it may have spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? (ticks * 1000) / ticksPerSecond : null;
  } catch {
    return null;
  }
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
