// Settings of a process that has some of an engine's ranks, as LeaderWorkerSet gives them to the pods of a group: all have
// the same configuration, the first one serves, and each has the same number of ranks in the order of the pods.

import { ports, type EngineConfig } from '@llmservice/crds';
import type { AdapterSettings } from './adapter-settings.js';
import { atLeast, between, defineFor } from './server-setting.js';

export interface NodeVariables {
  readonly rankPort: number;
  /** Name or address of the first node; null: there is one node. */
  readonly leaderAddress: string | null;
  readonly groupSize: number;
  /** 0: it is the first. */
  readonly workerIndex: number;
}

const define = defineFor<NodeVariables>();

export const nodeSettings = [
  define(
    'rankPort',
    '--rank-port',
    'N',
    'port at which the first node takes the others; ranks exchange over the 15 after it',
    ports.ranks,
    between(1, 65_520),
  ),
  define('leaderAddress', '--leader-address', 'HOST', 'name or address of the first node', null, String),
  define('groupSize', '--group-size', 'N', 'nodes that share the ranks', 1, atLeast(1)),
  define('workerIndex', '--worker-index', 'N', 'which of the nodes this is; 0 serves', 0, atLeast(0)),
] as const;

/** What these say together, and with the number of ranks: each violation by the names of its variables. */
export function nodeViolations(
  { leaderAddress, groupSize, workerIndex, adapters, adaptersDir }: NodeVariables & AdapterSettings,
  { parallelism: { tensor, pipeline = 1 }, accelerator }: Pick<EngineConfig, 'parallelism' | 'accelerator'>,
): string[] {
  if (groupSize === 1 && workerIndex === 0) return [];
  const ranks = tensor * pipeline;
  const size = `--group-size (LWS_GROUP_SIZE) is ${String(groupSize)}`;
  const rules = [
    [
      workerIndex < groupSize,
      `${size}, so that --worker-index (LWS_WORKER_INDEX) must be 0 to ${String(groupSize - 1)}, not ${String(workerIndex)}`,
    ],
    [
      leaderAddress !== null,
      `${size}, and --leader-address (LWS_LEADER_ADDRESS) does not say where the first is`,
    ],
    [
      pipeline > 1 || (ranks >= groupSize && ranks % groupSize === 0),
      `${size}, which must divide parallelism.tensor (--tensor-parallel-size, TENSOR_PARALLEL_SIZE): it is ${String(tensor)}`,
    ],
    [
      pipeline === 1 || pipeline % groupSize === 0,
      `${size}, which must divide parallelism.pipeline (--pipeline-parallel-size, PIPELINE_PARALLEL_SIZE), since each node has whole stages: it is ${String(pipeline)}`,
    ],
    [
      accelerator.kind === 'cpu',
      `${size}, and ranks of several nodes add up on the CPU alone: accelerator.kind (--accelerator, ACCELERATOR) must be cpu, not ${accelerator.kind}`,
    ],
    [
      adapters.length === 0 && adaptersDir === null,
      `${size}, and adapters (--adapters, --adapters-dir) are loaded on one node alone: merge them into the checkpoint`,
    ],
  ] as const;
  return rules.flatMap(([holds, message]) => (holds ? [] : [message]));
}
