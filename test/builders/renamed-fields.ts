// Services for tests of API versions: each field that v1beta1 names otherwise is in one of eight kinds.

import { llmService } from './llm-service.js';

/** Every field that has another name or other values, in services of many kinds. */
const kinds: readonly object[] = [
  {},
  { accelerator: { resourceName: 'amd.com/gpu', devices: 2, profile: 'mi300x' } },
  { stop: true, requestLog: { uri: 's3://logs/a/', text: true } },
  { rollout: { strategy: 'Surge', noProgressTimeoutSeconds: 77 }, server: { maxBodiesBytes: 67108864 } },
  { model: { cache: { kind: 'pvc', claimName: 'weights', maxSize: '10Gi' } } },
  {
    routing: { host: 'a.test', pathPrefix: '/a', fallback: { service: 'service-0' } },
    canary: { steps: [{ weight: 5, pauseSeconds: 60 }, { mirrorPercent: 10 }, { weight: 50 }] },
    rollout: { strategy: 'Drain' },
  },
  { scaling: { maxReplicas: 3, schedules: [{ name: 's', start: '0 8 * * *', end: '0 9 * * *' }] } },
  {
    env: [{ name: 'CUDA_A', value: 'stop' }],
    podLabels: { host: 'weight' },
    nodeSelector: { kind: 'devices' },
  },
];

/** @param checkpoint `spec.model` of the checkpoint that all of them serve */
export function renamedFields(
  index: number,
  checkpoint: { readonly uri: string },
): ReturnType<typeof llmService> {
  const {
    model = {},
    routing,
    ...rest
  } = kinds[index % kinds.length] as { model?: object; routing?: object };
  return llmService(`service-${String(index)}`, {
    ...rest,
    model: { ...checkpoint, ...model },
    replicas: index % 3,
    resources: { limits: { memory: '1Gi' } },
    ...(routing === undefined ? {} : { routing: { ...routing, host: `a-${String(index)}.test` } }),
  });
}
