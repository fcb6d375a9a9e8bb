// The clients of attacks.ts that attack, in a process of their own: what they compute, such as to pack 15 MB, delays none
// of those who measure. argv: port, milliseconds, seed, number of clients. Sends the parent an AttackersReport.

import { setMaxListeners } from 'node:events';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { attacks } from '../attacks/attacks.js';

export interface AttackersReport {
  /** Attacks by name. */
  readonly counts: readonly (readonly [string, number])[];
  /** Wrong answers by what they said. */
  readonly errors: readonly (readonly [string, number])[];
}

const [port = 0, durationMs = 0, seed = 0, clients = 0] = process.argv.slice(2).map(Number);
const over = AbortSignal.timeout(durationMs);
setMaxListeners(0, over);
const isOver = (): boolean => over.aborted;
const counts = new Map<string, number>();
const errors = new Map<string, number>();

async function attackOnAndOn(index: number): Promise<void> {
  const random = randomFrom(seed * 1000 + index);
  while (!isOver()) {
    const chosen = attacks[random(attacks.length)];
    if (chosen === undefined) return;
    counts.set(chosen.name, (counts.get(chosen.name) ?? 0) + 1);
    try {
      await chosen.run({ port, headers: {}, random, over });
    } catch (error) {
      // It left in the midst of its request.
      if (isOver()) return;
      const line = `${chosen.name}: ${(error as Error).message}`.slice(0, 300);
      errors.set(line, (errors.get(line) ?? 0) + 1);
    }
  }
}

process.once('disconnect', () => process.exit());
await Promise.all(Array.from({ length: clients }, (_, i) => attackOnAndOn(i)));
const report: AttackersReport = { counts: [...counts], errors: [...errors] };
process.send?.(report, () => process.disconnect());
