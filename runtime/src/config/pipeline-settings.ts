// What stages of a pipeline do not do, by the names of the settings.

import type { EngineConfig } from '@llmservice/crds';
import type { AdapterSettings } from './adapter-settings.js';

/** Each violation. */
export function pipelineViolations(
  { adapters, adaptersDir, maxAdapters }: AdapterSettings,
  { parallelism: { tensor, pipeline = 1 }, accelerator, engine }: EngineConfig,
): string[] {
  if (pipeline === 1) return [];
  const size = `parallelism.pipeline (--pipeline-parallel-size, PIPELINE_PARALLEL_SIZE) is ${String(pipeline)}`;
  const { method } = engine.speculative;
  const rules = [
    [
      tensor * pipeline <= 64,
      `${size}, and parallelism.tensor ${String(tensor)}: an engine has at most 64 ranks, not ${String(tensor * pipeline)}`,
    ],
    [
      accelerator.kind === 'cpu',
      `${size}, and stages compute on the CPU alone: accelerator.kind (--accelerator, ACCELERATOR) must be cpu, not ${accelerator.kind}`,
    ],
    [
      method === 'none',
      `${size}, and stages do not draft: engine.speculative.method (--speculative-method, SPECULATIVE_METHOD) must be none, not ${method}`,
    ],
    [
      adapters.length === 0 && adaptersDir === null && (maxAdapters ?? 0) === 0,
      `${size}, and stages load no adapters (--adapters, --adapters-dir, --max-adapters): merge them into the checkpoint`,
    ],
  ] as const;
  return rules.flatMap(([holds, message]) => (holds ? [] : [message]));
}
