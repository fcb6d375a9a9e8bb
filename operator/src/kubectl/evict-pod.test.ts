import { afterEach, expect, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from '../kube/client.js';
import { refuse, startApi, type ApiStandIn } from './api-stand-in.fixture.js';
import { evictPod } from './evict-pod.js';

let api: ApiStandIn;
afterEach(() => api.stop());

const pod = {
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name: 'demo-1', namespace: 'a', uid: 'u' },
};

function evicting() {
  const config = new KubeConfig();
  config.loadFromFile(api.kubeconfig);
  const client = new KubeClient(config);
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  return { lines, eviction: { client, say, deadline: performance.now() + 60_000 } };
}

test('a pod that is gone before it is evicted is gone', async () => {
  api = await startApi((_, response) => refuse(response, 404, 'pods "demo-1" not found'));
  const { lines, eviction } = evicting();
  await expect(evictPod(pod, pod, eviction)).resolves.toMatchObject({});
  expect(lines).toEqual([]);
  eviction.client.close();
});

test('so is one whose name a pod has that came after it, which stays', async () => {
  api = await startApi(({ pathname }, response) => {
    if (pathname.endsWith('/eviction')) refuse(response, 409, 'Precondition failed: UID in precondition: u');
    else if (pathname.endsWith('/log')) response.end();
    else response.end(JSON.stringify({ ...pod, metadata: { ...pod.metadata, uid: 'another' } }));
  });
  const { lines, eviction } = evicting();
  await expect(evictPod(pod, pod, eviction)).resolves.toMatchObject({ finished: 0 });
  expect(lines).toEqual([]);
  eviction.client.close();
});

test('with a pod of a group the generations of its leader end, which are counted', async () => {
  const leader = { ...pod, metadata: { name: 'demo-0', namespace: 'a', uid: 'l' } };
  let leaderLooks = 0;
  api = await startApi(({ pathname }, response) => {
    if (pathname.endsWith('/eviction')) response.end('{}');
    else if (pathname.endsWith('/demo-0/log')) {
      const ended = { message: 'request finished', errorCode: 'EngineFault', finishReasons: ['error'] };
      response.end([ended, ended].map((line) => `${JSON.stringify(line)}\n`).join(''));
    } else if (pathname.endsWith('/demo-0') && ++leaderLooks < 3) response.end(JSON.stringify(leader));
    else refuse(response, 404, 'not found');
  });
  const { lines, eviction } = evicting();
  await expect(evictPod(pod, leader, eviction)).resolves.toMatchObject({ failed: 2 });
  expect(lines).toEqual(['a/demo-1 was asked to end: its group ends with it, and what a/demo-0 generates']);
  expect(leaderLooks).toBe(3);
  eviction.client.close();
});
