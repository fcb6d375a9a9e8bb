// Which boot of the machine this is. What was written in another one, and never synced, may not have reached the disk.

import { readFileSync } from 'node:fs';

/** The same in all boots where the system does not report one. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
