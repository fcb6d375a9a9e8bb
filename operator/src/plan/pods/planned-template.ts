// A pod template with the config that its pods mount: what a revision of a service is.

import type { Pins } from '../../domain/checkpoint.js';
import type { WantedService } from '../../domain/wanted-service.js';
import type { KubeObject } from '../../kube/types.js';
import { contentHash } from '../../domain/content-hash.js';
import { engineConfigText, planConfigMap, planEngineConfig, planPullConfig } from './engine-config.js';
import { planPodTemplate, type PodInputs, type PodTemplate } from './pod-template.js';

export interface PlannedTemplate {
  readonly configMap: KubeObject;
  /** Pod template. */
  readonly pod: Omit<PodTemplate, 'revision'>;
  /** Its hash. */
  readonly revision: string;
}

export interface TemplateInputs extends Pick<
  PodInputs,
  'image' | 'pullImage' | 'operatorImage' | 'size' | 'memoryPlan'
> {
  /** What a cache knows the checkpoints by; null: there is none, or they are not known. */
  readonly pins: Pins | null;
}

export function planTemplate(service: WantedService, inputs: TemplateInputs): PlannedTemplate {
  const config = inputs.pullImage === null ? planEngineConfig(service, inputs.pins) : planPullConfig(service);
  const configHash = contentHash(config);
  const configMap = planConfigMap(service, configHash, engineConfigText(config));
  const { revision, ...pod } = planPodTemplate(service, {
    ...inputs,
    configMap: configMap.metadata.name,
    configHash,
  });
  return { configMap, pod, revision };
}
