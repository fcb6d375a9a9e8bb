import { describe, expect, test } from '@jest/globals';
import {
  planAutoscaler,
  planAutoscaling,
  scalingTarget,
  type AutoscalingCapabilities,
} from './autoscaling.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';

const scaled = (scaling: object = {}) => wantedService({ scaling: { maxReplicas: 4, ...scaling } });
const nothing: AutoscalingCapabilities = { keda: false, customMetrics: false, prometheusUrl: null };
const prometheusUrl = 'http://prometheus:9090';

describe('who scales by load', () => {
  test.each<[string, object, Partial<AutoscalingCapabilities>, object]>([
    ['nobody unless asked', { maxReplicas: undefined }, {}, { state: 'off' }],
    ['the operator where there is nothing else', {}, {}, { autoscaler: { provider: 'operator' } }],
    [
      'an HPA where there are custom metrics',
      {},
      { customMetrics: true },
      { autoscaler: { provider: 'hpa' } },
    ],
    [
      'KEDA before that',
      {},
      { keda: true, customMetrics: true, prometheusUrl },
      { autoscaler: { provider: 'keda', prometheusUrl } },
    ],
    ['not KEDA without Prometheus', {}, { keda: true }, { autoscaler: { provider: 'operator' } }],
    [
      'the operator where it is chosen',
      { provider: 'operator' },
      { keda: true, customMetrics: true, prometheusUrl },
      { autoscaler: { provider: 'operator' } },
    ],
    ['nobody where KEDA is chosen and absent', { provider: 'keda' }, { prometheusUrl }, { state: 'missing' }],
    ['nor where it is there without Prometheus', { provider: 'keda' }, { keda: true }, { state: 'missing' }],
    ['nor where an HPA is chosen without metrics', { provider: 'hpa' }, {}, { state: 'missing' }],
  ])('%s', (_, scaling, capabilities, expected) => {
    expect(planAutoscaling(scaled(scaling), { ...nothing, ...capabilities })).toMatchObject(expected);
  });
});

test.each([
  ['concurrency', {}, 44],
  ['concurrency of a small engine', { engine: { maxNumSeqs: 1 } }, 1],
  ['queue', { scaling: { metric: 'queue' } }, 4],
  ['kvUsage', { scaling: { metric: 'kvUsage' } }, 80],
  ['what is set', { scaling: { maxReplicas: 2, target: 7 } }, 7],
])('the target of %s', (_, spec, target) => {
  expect(scalingTarget(wantedService(spec).spec)).toBe(target);
});

const target = { apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService', name: 'demo' };
const running = 'vllm:num_requests_running';
const waiting = 'vllm:num_requests_waiting';

describe('a HorizontalPodAutoscaler', () => {
  const hpaOf = (scaling: object) => planAutoscaler(scaled(scaling), { provider: 'hpa' })[0];
  test('scales the LlmService, never to zero', () => {
    expect(hpaOf({ scaleDownStabilizationSeconds: 60 })?.['spec']).toMatchObject({
      scaleTargetRef: target,
      minReplicas: 1,
      maxReplicas: 4,
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    });
  });
  test.each<[object, [string, string][]]>([
    [
      { target: 8 },
      [
        [running, '8'],
        [waiting, '8'],
      ],
    ],
    [{ metric: 'queue' }, [[waiting, '4']]],
    [{ metric: 'kvUsage', target: 75 }, [['vllm:kv_cache_usage_perc', '750m']]],
  ])('asks for the metrics of %j', (scaling, metrics) => {
    expect((hpaOf(scaling)?.['spec'] as { metrics: object[] }).metrics).toEqual(
      metrics.map(([name, averageValue]) => ({
        type: 'Pods',
        pods: { metric: { name }, target: { type: 'AverageValue', averageValue } },
      })),
    );
  });
});

describe('a ScaledObject', () => {
  const triggerOf = (scaling: object): unknown => {
    const [object] = planAutoscaler(scaled(scaling), { provider: 'keda', prometheusUrl });
    const spec = object?.['spec'] as { scaleTargetRef: object; minReplicaCount: number; triggers: object[] };
    expect(spec.scaleTargetRef).toEqual(target);
    expect(spec.minReplicaCount).toBe(2);
    return spec.triggers[0];
  };
  const pods = '{namespace="ns",pod=~"demo-[a-z0-9]{1,10}-[a-z0-9]{5}"}';
  test.each([
    [{ target: 8 }, `sum(${running}${pods}) + sum(${waiting}${pods})`, '8'],
    [{ metric: 'queue' }, `sum(${waiting}${pods})`, '4'],
    [{ metric: 'kvUsage' }, `100 * sum(vllm:kv_cache_usage_perc${pods})`, '80'],
  ])('asks Prometheus for the sum of %j over the pods', (scaling, query, threshold) => {
    expect(triggerOf({ minReplicas: 2, ...scaling })).toEqual({
      type: 'prometheus',
      metricType: 'AverageValue',
      metadata: { serverAddress: prometheusUrl, query, threshold, ignoreNullValues: 'false' },
    });
  });
});

describe('the pods that a ScaledObject asks for', () => {
  /** As the controllers of Deployments and ReplicaSets name them: what is generated is cut before the random end. */
  const podOf = (service: string, hash = '7d9c6b8f5d'): string =>
    `${service}-${hash}-`.slice(0, 58) + 'x7k2q';
  const asksFor = (service: string, pod: string): boolean => {
    const [object] = planAutoscaler({ ...scaled(), name: service }, { provider: 'keda', prometheusUrl });
    const [, pattern = ''] = /pod=~"([^"]+)"/.exec(JSON.stringify(object).replaceAll('\\', '')) ?? [];
    return new RegExp(`^(?:${pattern})$`).test(pod);
  };
  const lengths = [1, 45, 46, 47, 48, 49, 50, 51, 52];

  test.each(lengths)('are all of its own, with a name of %d characters', (length) => {
    const name = 'a'.repeat(length);
    for (const hash of ['7d9c6b8f5d', '7d9c6b8f5', '7d9c6b8f', '7d9c6']) {
      expect(asksFor(name, podOf(name, hash))).toBe(true);
    }
  });

  test.each(lengths)('are none of a service whose name begins with %d characters of it', (length) => {
    const name = 'a'.repeat(length);
    for (let longer = `${name}-b`; longer.length <= 52; longer += 'b') {
      expect(asksFor(name, podOf(longer))).toBe(false);
      expect(asksFor(name, podOf(`${longer}-c`.slice(0, 52)))).toBe(false);
    }
  });
});

test('the operator’s own loop needs no object', () => {
  expect(planAutoscaler(scaled(), { provider: 'operator' })).toEqual([]);
});
