// What the runtime gets: the engine config, and the ConfigMap that carries it. The name holds the content's hash,
// so that a pod of an older revision that restarts still finds what it was made for.

import { annotations, paths, type EngineConfig } from '@llmservice/crds';
import type { Pins } from '../../domain/checkpoint.js';
import type { NodeCache, WantedService } from '../../domain/wanted-service.js';
import type { KubeObject } from '../../kube/types.js';
import { isImageVolume } from '../../resource/store-access.js';
import { configMapName } from '../identity/child-identity.js';
import { childMetadata } from '../identity/child-metadata.js';
import { ownFolder } from './node-cache-volume.js';

export const engineConfigKey = 'engine-config.json';

/** Paths inside the pod, where planPodTemplate mounts what the spec names. */
export function planEngineConfig(service: WantedService, pins: Pins | null = null): EngineConfig {
  const { spec, accelerator, cache } = service;
  const { s3, hub } = spec.model;
  const { endpoint, region, forcePathStyle } = s3;
  return {
    model: {
      uri: spec.model.uri,
      name: service.modelName,
      aliases: spec.model.aliases ?? [],
      s3: {
        ...(endpoint === undefined ? {} : { endpoint }),
        ...(region === undefined ? {} : { region }),
        forcePathStyle,
      },
      // Runtimes from before hubs and registries refuse the fields.
      ...(hub.endpoint === undefined ? {} : { hub: { endpoint: hub.endpoint } }),
      ...planRegistry(service),
      ...(cache === null ? {} : { cache: planCache(service, cache, pins) }),
    },
    accelerator: { kind: accelerator.kind, memoryBytesPerDevice: accelerator.memoryBytesPerDevice },
    // Runtimes from before stages refuse the field.
    parallelism: {
      tensor: service.tensor,
      ...(service.pipeline === 1 ? {} : { pipeline: service.pipeline }),
    },
    engine: {
      maxModelLen: spec.engine.maxModelLen ?? null,
      memoryUtilizationPercent: spec.engine.memoryUtilizationPercent,
      maxNumSeqs: spec.engine.maxNumSeqs,
      maxNumBatchedTokens: spec.engine.maxNumBatchedTokens,
      blockSize: spec.engine.blockSize,
      prefixCaching: spec.engine.prefixCaching,
      dtype: spec.engine.dtype,
      exactness: spec.engine.exactness,
      kvCacheDtype: spec.engine.kvCacheDtype,
      quantization: spec.engine.quantization,
      speculative: spec.engine.speculative,
      collectives: spec.engine.collectives,
      // Runtimes from before the self-check refuse the field.
      ...(spec.engine.selfCheck ? {} : { selfCheck: false }),
      warmup: { ...spec.engine.warmup, shapes: spec.engine.warmup.shapes ?? [] },
      thinkingDefault: spec.engine.thinkingDefault ?? null,
      samplingDefaults: spec.engine.samplingDefaults ?? {},
      ...planReaders(spec.engine),
    },
    auth: {
      keysDir: spec.auth.keysSecretRef === undefined ? null : paths.keys,
      maxReplicas: spec.auth.maxReplicas,
      protectMetrics: spec.auth.protectMetrics,
    },
    // In a folder of its own, since several services may share a claim.
    accounting: {
      dir:
        spec.accounting.persistentVolumeClaimRef === undefined ? null : `${paths.accounting}/${service.name}`,
    },
    drainTimeoutSeconds: spec.rollout.drainTimeoutSeconds,
    noProgressTimeoutSeconds: spec.rollout.noProgressTimeoutSeconds,
  };
}

function planRegistry(service: WantedService): Pick<EngineConfig['model'], 'oci'> {
  const { plainHttp } = service.spec.model.oci;
  const mounted = isImageVolume(service);
  if (!plainHttp && !mounted) return {};
  return { oci: { ...(plainHttp ? { plainHttp } : {}), ...(mounted ? { mounted } : {}) } };
}

/** Names of parsers and tokens for another engine are no business of the runtime that pulls for it. */
function planReaders({
  runtime,
  toolCallParser,
  toolsWithoutTemplate,
  reasoningParser,
  classifierFromToken,
}: WantedService['spec']['engine']): Pick<
  EngineConfig['engine'],
  'toolCallParser' | 'toolsWithoutTemplate' | 'reasoningParser' | 'classifierFromToken'
> {
  if (runtime === 'vllm') return {};
  return {
    ...(toolCallParser === undefined ? {} : { toolCallParser }),
    ...(toolsWithoutTemplate === undefined ? {} : { toolsWithoutTemplate }),
    ...(reasoningParser === undefined ? {} : { reasoningParser }),
    ...(classifierFromToken === undefined ? {} : { classifierFromToken }),
  };
}

function planCache(
  service: WantedService,
  cache: NodeCache,
  pins: Pins | null,
): NonNullable<EngineConfig['model']['cache']> {
  const { maxBytes, verify } = cache;
  const volume =
    cache.kind === 'hostPath' ? `hostPath ${cache.path}/${ownFolder(service)}` : `claim ${cache.claimName}`;
  return { volume, maxBytes, verify, pins: pins ?? { model: null, head: null } };
}

/** For the runtime that only pulls for another engine: it needs no device. */
export function planPullConfig(service: WantedService): EngineConfig {
  return { ...planEngineConfig(service), accelerator: { kind: 'cpu', memoryBytesPerDevice: null } };
}

/** As the ConfigMap has it. */
export function engineConfigText(config: EngineConfig): string {
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** @param hash of the config; @param text the config as JSON */
export function planConfigMap(service: WantedService, hash: string, text: string): KubeObject {
  const metadata = childMetadata(service, configMapName(service.name, hash));
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, annotations: { [annotations.configHash]: hash } },
    immutable: true,
    data: { [engineConfigKey]: text },
  };
}
