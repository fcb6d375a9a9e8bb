import { setTimeout as sleep } from 'node:timers/promises';

/** Whether the work, which never fails, ends by then. */
export function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return Promise.race([work.then(() => true), sleep(ms, false, { ref: false })]);
}
