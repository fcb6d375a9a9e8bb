// A cluster without nodes: a real API server whose controllers and kubelet the test plays. It makes pods from Deployments
// and writes the status of pods and routes.

import {
  collectionPath,
  objectPath,
  resourceOf,
  resources,
  type Resource,
} from '../../operator/src/kube/resources.js';
import type { KubeRequest } from '../../operator/src/kube/client.js';
import type { Deployment, KubeObject, Pod } from '../../operator/src/kube/types.js';
import { eventually } from '../processes.js';
import type { ApiServer } from './api-server.js';

/** By what the operator distinguishes pods of a service's Deployment from others; no controller runs that would set it. */
export function playedPodOf(service: string): { labels: Record<string, string>; ownerReferences: object[] } {
  const hash = 'played';
  const name = `${service}-${hash}`;
  return {
    labels: { 'pod-template-hash': hash },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name, controller: true }],
  };
}

/** All objects lie in the namespace `default`. */
export class TestCluster {
  constructor(readonly api: ApiServer) {}

  request<T = KubeObject>(
    method: KubeRequest['method'],
    path: string,
    body?: unknown,
    contentType?: string,
  ): Promise<T> {
    return this.api.admin.request<T>({
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
    });
  }

  create(object: object): Promise<KubeObject> {
    const { metadata, ...rest } = object as KubeObject;
    return this.request('POST', collectionPath(resourceOf(rest), metadata.namespace ?? 'default'), object);
  }

  get<T extends KubeObject = KubeObject>(resource: Resource, name: string): Promise<T | null> {
    return this.api.admin.find<T>(objectPath(resource, 'default', name));
  }

  /** Unless it is there. */
  async makeNamespace(name: string): Promise<void> {
    if ((await this.api.admin.find(`/api/v1/namespaces/${name}`)) !== null) return;
    await this.request('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }

  patch(resource: Resource, name: string, body: object, subresource = ''): Promise<KubeObject> {
    const path = objectPath(resource, 'default', name) + subresource;
    return this.request('PATCH', path, body, 'application/merge-patch+json');
  }

  delete(resource: Resource, name: string): Promise<KubeObject> {
    return this.request('DELETE', objectPath(resource, 'default', name), {});
  }

  async list(resource: Resource, selector: string): Promise<KubeObject[]> {
    const query = { labelSelector: selector };
    return (await this.api.admin.get<{ items: KubeObject[] }>(collectionPath(resource, 'default'), query))
      .items;
  }

  deployment(name: string): Promise<Deployment> {
    return eventually(`deployment ${name}`, () => this.get<Deployment>(resources.deployments, name));
  }

  /** What the controllers do: a pod from the Deployment's template, of a ReplicaSet by its name. */
  async makePod(service: string, podName: string): Promise<void> {
    const { spec } = (await this.deployment(service)) as unknown as {
      spec: { template: { metadata: { labels: object }; spec: object } };
    };
    const { metadata } = spec.template;
    const owned = playedPodOf(service);
    await this.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...metadata,
        name: podName,
        namespace: 'default',
        ...owned,
        labels: { ...metadata.labels, ...owned.labels },
      },
      spec: spec.template.spec,
    });
  }

  setPodStatus(podName: string, status: NonNullable<Pod['status']>): Promise<KubeObject> {
    return this.patch(resources.pods, podName, { status }, '/status');
  }

  /** The kubelet's report of a pod that answers its readiness probe. */
  async podServes(podName: string): Promise<void> {
    await this.setPodStatus(podName, {
      phase: 'Running',
      podIP: '192.0.2.1',
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
      containerStatuses: [runtimeContainerStatus({ ready: true, state: { running: {} } })],
    });
  }

  /** The kubelet's report of a container that ended with a termination message and was started again. */
  async podFailed(podName: string, message: string): Promise<void> {
    await this.setPodStatus(podName, {
      phase: 'Running',
      conditions: [{ type: 'PodScheduled', status: 'True' }],
      containerStatuses: [
        runtimeContainerStatus({
          restartCount: 1,
          state: { running: {} },
          lastState: { terminated: { exitCode: 1, message, finishedAt: '2026-01-01T00:00:00Z' } },
        }),
      ],
    });
  }

  /** The gateway's controller takes the policy by which it verifies pods, or has this against it. */
  async judgePolicy(name: string, complaint?: { reason: string; message: string }): Promise<void> {
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' };
    const resolved =
      complaint === undefined
        ? { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs', message: '' }
        : { type: 'ResolvedRefs', status: 'False', ...complaint };
    const ancestors = [
      {
        ancestorRef: { name: 'public', namespace: 'gateways' },
        controllerName: 'example.org/gateway',
        conditions: [accepted, resolved].map((each) => ({ ...each, lastTransitionTime })),
      },
    ];
    await this.patch(resources.backendTlsPolicies, name, { status: { ancestors } }, '/status');
  }

  /** The route's controller accepts it, whatever becomes of it; `as it is`: until it changes. */
  async acceptRoute(name: string, which: 'for good' | 'as it is' = 'for good'): Promise<void> {
    const route = which === 'for good' ? null : await this.get(resources.httpRoutes, name);
    const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
      type,
      ...(route === null ? {} : { observedGeneration: route.metadata.generation ?? 0 }),
      status: 'True',
      reason: type,
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }));
    const parents = [
      {
        parentRef: { name: 'public', namespace: 'gateways' },
        controllerName: 'example.org/gateway',
        conditions,
      },
    ];
    await this.patch(resources.httpRoutes, name, { status: { parents } }, '/status');
  }
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

function runtimeContainerStatus(change: Partial<ContainerStatus>): ContainerStatus {
  const fixed = { image: 'example.org/runtime:1', imageID: '' };
  return { name: 'runtime', ready: false, restartCount: 0, ...fixed, ...change };
}
