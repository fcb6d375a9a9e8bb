import { afterEach, expect, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from '../kube/client.js';
import { refuse, startApi, type ApiStandIn } from './api-stand-in.fixture.js';
import { evictPod } from './evict-pod.js';

let api: ApiStandIn;
afterEach(() => api.stop());

test('a pod that is gone before it is evicted is gone', async () => {
  api = await startApi((_, response) => refuse(response, 404, 'pods "demo-1" not found'));
  const config = new KubeConfig();
  config.loadFromFile(api.kubeconfig);
  const client = new KubeClient(config);
  const lines: string[] = [];
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: 'demo-1', namespace: 'a', uid: 'u' },
  };
  const say = (line: string): void => void lines.push(line);
  const deadline = performance.now() + 60_000;
  await expect(evictPod(pod, { client, say, deadline })).resolves.toMatchObject({});
  expect(lines).toEqual([]);
  client.close();
});
