// Engines to which something happens in the midst of their load, however late a busy machine sees that they load.

import type { EngineClient } from '../../runtime/src/engine/engine-client.js';
import { rankPids } from '../process-tree.js';
import { eventually } from '../processes.js';

/** An engine whose load has ended, though not well. */
interface HarmedLoad {
  readonly client: EngineClient;
  /** Its processes by rank, as they were when it was harmed. */
  readonly pids: readonly number[];
  /** From the harm to the end of the load. */
  readonly tookMs: number;
}

/**
 * Harms an engine once it loads. Where the load was over before that, another engine is harmed instead.
 * @param make the next engine, not started yet
 * @param harm what is done to it, given its processes by rank
 */
export async function harmLoad(
  make: () => EngineClient,
  harm: (pids: readonly number[]) => void,
): Promise<HarmedLoad> {
  for (let tries = 1; tries <= 10; tries += 1) {
    const client = make();
    const started = client.start();
    await eventually('the load', () => {
      const { state } = client.health();
      return state.kind !== 'loading' || state.loaded.bytesDone > 0;
    });
    const engine = client.health().pid;
    if (client.health().state.kind === 'loading' && engine !== null) {
      const pids = rankPids(engine);
      const harmed = performance.now();
      harm(pids);
      await started;
      const tookMs = performance.now() - harmed;
      if (client.health().state.kind === 'failed') return { client, pids, tookMs };
    }
    await client.stop();
  }
  throw new Error('ten engines had loaded before they were harmed');
}
