import { afterEach, expect, jest, test } from '@jest/globals';
import { api } from '@llmservice/crds';
import type { Writer } from '../apply/writer.js';
import type { KubeObject } from '../kube/types.js';
import { LoadScaler, type LoadScalerOptions } from './load-scaler.js';
import type { Look } from '../plan/scaling/idleness.js';

const busy: Look = {
  pods: new Map([['uid', { running: 25, waiting: 0, counted: 0, kvUsage: null }]]),
  unseen: [],
};
const quiet: Look = {
  pods: new Map([['uid', { running: 0, waiting: 0, counted: 0, kvUsage: null }]]),
  unseen: [],
};

afterEach(() => void jest.restoreAllMocks());

/** A scaler of one service, whose writes are done as `scale` has it. */
function scalerOf(scale: Writer['scale'], stabilizationSeconds: number) {
  const service = { replicas: 1 };
  const object = (): KubeObject => ({
    apiVersion: api.groupVersion,
    kind: api.kind,
    metadata: { name: 'demo', namespace: 'ns', uid: 'u', generation: 1 },
    spec: {
      model: { uri: 's3://bucket/folder/' },
      replicas: service.replicas,
      scaling: { maxReplicas: 4, target: 10, scaleDownStabilizationSeconds: stabilizationSeconds },
    },
  });
  const caches = { llmServices: { get: object }, podsOf: () => [] } as never as LoadScalerOptions['caches'];
  const onError = jest.fn<LoadScalerOptions['onError']>();
  const capabilities = () => ({ keda: false, customMetrics: false, prometheusUrl: null });
  const scaler = new LoadScaler({ caches, writer: { scale }, capabilities, onError });
  return { service, onError, look: (look: Look) => scaler.looked('ns/demo', look) };
}

test('sets what the load needs', async () => {
  const scale = jest.fn<Writer['scale']>().mockResolvedValue(undefined);
  await scalerOf(scale, 300).look(busy);
  expect(scale).toHaveBeenCalledWith(expect.anything(), 3);
});

test('a write that is refused is tried again at the next look, not after another window', async () => {
  const scale = jest.fn<Writer['scale']>().mockRejectedValue(new Error('conflict'));
  const { service, onError, look } = scalerOf(scale, 300);
  service.replicas = 3;
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  await look(quiet);
  clock.mockReturnValue(299_999);
  await look(quiet);
  expect(scale).not.toHaveBeenCalled();
  clock.mockReturnValue(300_000);
  await look(quiet);
  await look(quiet);
  expect(scale.mock.calls.map(([, replicas]) => replicas)).toEqual([1, 1]);
  expect(onError).toHaveBeenCalledTimes(2);
});
