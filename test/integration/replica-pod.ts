// A pod of a service as operator and activator see it, whose server is one of the test's.

import { activatorName, labels, servingName } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import type { World } from './operator-world.js';
import { playedPodOf } from './test-cluster.js';

/** Ready at 127.0.0.1. @param scheme what its server speaks */
export async function makeReplicaPod(
  world: World,
  service: string,
  name: string,
  port: number,
  scheme: 'http' | 'https' = 'http',
): Promise<void> {
  const template = (await world.get(resources.deployments, service))?.['spec'] as
    { template: { metadata: { labels: object; annotations: object } } } | undefined;
  const own = {
    [labels.name]: servingName,
    [labels.service]: service,
    [labels.managedBy]: 'llmservice-operator',
  };
  const { annotations = {} } = template?.template.metadata ?? {};
  const owned = playedPodOf(service);
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...owned, labels: { ...own, ...owned.labels }, annotations },
    spec: {
      containers: [
        { name: 'runtime', image: 'x', ports: [{ name: scheme, containerPort: port, protocol: 'TCP' }] },
      ],
    },
  });
  await world.setPodStatus(name, {
    phase: 'Running',
    podIP: '127.0.0.1',
    conditions: ['PodScheduled', 'Ready'].map((type) => ({ type, status: 'True' })),
  });
}

/** A pod of the activator, for the operator to see. */
export async function makeActivatorPod(world: World, name: string, podIP: string): Promise<void> {
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { [labels.name]: activatorName } },
    spec: { containers: [{ name: 'activator', image: 'x' }] },
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await world.setPodStatus(name, { phase: 'Running', podIP, conditions });
}
