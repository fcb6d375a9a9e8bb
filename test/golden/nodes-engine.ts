// An engine whose ranks are on several nodes, as far as they see: each node has a segment of its own, and reaches the
// others by wire alone. Each rank is a thread of this process.

import { makeSegment, type Engine, type NodePlace } from '@llmservice/native';
import { freePort } from '../processes.js';
import { loadEachRank, optionsOf, type How } from './engine-driver.js';

/** Its ranks are divided evenly among the nodes; `changes` of a node's place, by its index. */
export async function loadOnNodes(
  modelDir: string,
  how: How,
  [nodes, size]: readonly [number, number],
  changes: Readonly<Record<number, Partial<NodePlace>>> = {},
  stages = 1,
): Promise<Engine> {
  const port = await freePort();
  const segments = Array.from({ length: nodes }, () => makeSegment(size, stages));
  const options = (rank: number) => {
    const index = Math.floor((rank * nodes) / size);
    const node = { index, count: nodes, leader: '127.0.0.1', port, name: `pod-${String(index)}` };
    return optionsOf(modelDir, how, {
      ...{ rank, size, segment: segments[index]!, stages: stages === 1 ? null : stages },
      nodes: { ...node, plan: '{}', waitMs: 20_000, ...changes[index] },
    });
  };
  return loadEachRank(options, size, segments);
}
