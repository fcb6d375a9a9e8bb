import { expect, test } from '@jest/globals';
import { StallWatch } from './stall-watch.js';

/** After how many looks of at most 1000 it has stalled; null: it has not. @param processorMs at each look */
function stallsAfter(
  processorMs: (look: number) => number | null,
  isHeard: (look: number) => boolean = () => false,
): number | null {
  let at = 0;
  const watch = new StallWatch(() => processorMs(at));
  for (at = 1; at <= 1000; at += 1) {
    if (isHeard(at)) watch.heard();
    if (watch.look()) return at;
  }
  return null;
}

test.each<[string, number | null, Parameters<typeof stallsAfter>]>([
  ['without a processor, as one that was stopped, has stalled', 11, [() => 0]],
  ['whose processor time cannot be known has stalled', 11, [() => null]],
  ['that was stopped later has stalled', 31, [(look) => Math.min(look, 20) * 100]],
  ['that gets a hundredth of a processor has not, for as long as it may need', null, [(look) => look * 10]],
  ['that has a processor to itself and sends nothing has stalled', 12, [(look) => look * 1000]],
  [
    'that sends signs of life has not, whatever it takes',
    null,
    [(look) => look * 2000, (look) => look % 5 === 0],
  ],
  ['that sends signs of life has not, whatever is known', null, [() => null, (look) => look % 5 === 0]],
])('one %s', (_, looks, how) => {
  expect(stallsAfter(...how)).toBe(looks);
});
