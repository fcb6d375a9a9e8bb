// Reports how far the ranks of several nodes are, while a native load waits for them.

import type { EngineMessage } from './protocol.js';
import type { RankProcesses } from './rank-processes.js';

const lookEveryMs = 200;

/** Says what nodes are waited for, each time that it changes, and once when all ranks of all nodes have loaded. */
export function watchGroup(
  ranks: Pick<RankProcesses, 'state'>,
  send: (message: EngineMessage) => void,
): { readonly end: () => void } {
  let seen = '';
  const timer = setInterval(() => {
    const state = ranks.state();
    if (state === null) return;
    const { waitingFor, loaded } = state;
    if (waitingFor !== seen) send({ type: 'waiting', waitingFor });
    seen = waitingFor;
    if (!loaded) return;
    send({ type: 'loaded' });
    clearInterval(timer);
  }, lookEveryMs);
  return { end: () => clearInterval(timer) };
}
