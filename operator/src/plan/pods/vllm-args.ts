// The arguments of `vllm serve` for a service, as vLLM 0.32 knows them: docs.vllm.ai, "vllm serve".

import { paths, ports, routes, specDefaults } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { mountedFolder } from './checkpoint-volume.js';

/** KV cache on the CPU of a container without a memory limit: vLLM would take its share of the whole node. */
export const kvBytesWithoutLimit = 4 * 2 ** 30;

/** What stands behind `vllm serve`; the user's own come last, since vLLM takes the last of an option. */
export function planVllmArgs(service: WantedService): string[] {
  const { engine, model, rollout } = service.spec;
  return [
    checkpointDir(service),
    ...option('--port', ports.http),
    ...['--served-model-name', service.modelName, ...(model.aliases ?? [])],
    ...option('--tensor-parallel-size', service.tensor),
    // The largest that fits, as in the native engine.
    ...option('--max-model-len', engine.maxModelLen ?? 'auto'),
    ...memoryOptions(service),
    ...option('--max-num-seqs', engine.maxNumSeqs),
    ...option('--max-num-batched-tokens', engine.maxNumBatchedTokens),
    // Some models allow few sizes only. At the default vLLM chooses one that all layers can have.
    ...(engine.blockSize === specDefaults.engine.blockSize ? [] : option('--block-size', engine.blockSize)),
    ...option('--dtype', engine.dtype),
    ...option('--kv-cache-dtype', engine.kvCacheDtype),
    engine.prefixCaching ? '--enable-prefix-caching' : '--no-enable-prefix-caching',
    ...(engine.quantization === 'none' ? [] : option('--quantization', engine.quantization)),
    ...speculation(engine.speculative),
    ...(engine.reasoningParser === undefined ? [] : option('--reasoning-parser', engine.reasoningParser)),
    ...(engine.toolCallParser === undefined
      ? []
      : ['--enable-auto-tool-choice', ...option('--tool-call-parser', engine.toolCallParser)]),
    ...(engine.collectives === 'library' ? ['--disable-custom-all-reduce'] : []),
    // Running generations may finish; vLLM's own default ends them at once.
    ...option('--shutdown-timeout', rollout.drainTimeoutSeconds),
    ...option('--disable-access-log-for-endpoints', `${routes.health},${routes.metrics}`),
    ...(engine.args ?? []),
  ];
}

function checkpointDir(service: WantedService): string {
  return mountedFolder(service)?.replace(/\/$/, '') ?? paths.pulledCheckpoint;
}

function option(name: string, value: string | number): string[] {
  return [name, String(value)];
}

/** vLLM reads the container's limit itself, where there is one. */
function memoryOptions({ spec, accelerator }: WantedService): string[] {
  const unlimited = accelerator.kind === 'cpu' && spec.resources?.limits?.['memory'] === undefined;
  const share = option('--gpu-memory-utilization', spec.engine.memoryUtilizationPercent / 100);
  return unlimited ? [...share, ...option('--kv-cache-memory-bytes', kvBytesWithoutLimit)] : share;
}

function speculation({ method, tokens }: WantedService['spec']['engine']['speculative']): string[] {
  if (method === 'none') return [];
  return option('--speculative-config', JSON.stringify({ method, num_speculative_tokens: tokens }));
}
