// Reports how far the ranks of several nodes are, and whom the first refused, while a native load waits for them.

import type { EngineMessage } from './protocol.js';
import type { RankProcesses } from './rank-processes.js';

const lookEveryMs = 200;

/**
 * Says what nodes are waited for, each time that it changes, who was refused, at most once a look however many come, and once when all ranks of all nodes have loaded.
 */
export function watchGroup(
  ranks: Pick<RankProcesses, 'state'>,
  send: (message: EngineMessage) => void,
): { readonly end: () => void } {
  let seen = '';
  let refused = 0;
  const timer = setInterval(() => {
    const state = ranks.state();
    if (state === null) return;
    const { waitingFor, refusals, lastRefusal, loaded } = state;
    if (waitingFor !== seen) send({ type: 'waiting', waitingFor });
    seen = waitingFor;
    if (refusals !== refused) send({ type: 'refused', refusals, caller: lastRefusal });
    refused = refusals;
    if (!loaded) return;
    send({ type: 'loaded' });
    clearInterval(timer);
  }, lookEveryMs);
  return { end: () => clearInterval(timer) };
}
