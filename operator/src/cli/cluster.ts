// What the cluster of the current kubeconfig has of a service, and what its API server says to a manifest. Reads, and
// applies nothing: a dry run alone.

import { labels } from '@llmservice/crds';
import { errorText } from '../kube/error-text.js';
import { ApiError, type KubeClient } from '../kube/client.js';
import { ClusterError, connect, type ClusterChoice } from '../kube/connect.js';
import { groupSetName } from '../kube/group-set-name.js';
import { asDeployment, type LeaderWorkerSet } from '../kube/group-set.js';
import { collectionPath, objectPath, resourceOf, resources } from '../kube/resources.js';
import type { Deployment, HttpRoute, KubeObject, Pod } from '../kube/types.js';
import { createOperatorLogger } from '../log.js';
import type { Gateway } from '../plan/traffic/routing.js';
import type { PlannedTemplate } from '../plan/pods/planned-template.js';
import type { Replacement } from '../plan/rollouts/replacement.js';
import { RolloutController } from '../reconcile/rollout-controller.js';
import type { WantedService } from '../domain/wanted-service.js';
import { ClusterRoom } from '../watch/cluster-room.js';
import { DeviceRoom } from '../watch/device-room.js';

export class Cluster {
  private readonly rollouts: RolloutController;

  private constructor(private readonly client: KubeClient) {
    const room = new ClusterRoom(client, createOperatorLogger(null));
    this.rollouts = new RolloutController(room, new DeviceRoom(client), 0);
  }

  /** @throws ClusterError without a kubeconfig */
  static connect(choice: ClusterChoice): Cluster {
    return new Cluster(connect(choice).client);
  }

  find<T>(path: string): Promise<T | null> {
    return withClusterError(path, () => this.client.find<T>(path));
  }

  live(object: KubeObject): Promise<KubeObject | null> {
    const { namespace = '', name } = object.metadata;
    return this.find(objectPath(resourceOf(object), namespace, name));
  }

  deployment(namespace: string, name: string): Promise<Deployment | null> {
    return this.find(objectPath(resources.deployments, namespace, name));
  }

  /** What holds the pods of a service whose replicas are groups; null too where the kind is not served. */
  async groups(namespace: string, name: string): Promise<Deployment | null> {
    const path = objectPath(resources.leaderWorkerSets, namespace, groupSetName(name));
    const set = await this.find<LeaderWorkerSet>(path);
    return set === null ? null : asDeployment(set);
  }

  /** Whether something answers for the metrics by which a HorizontalPodAutoscaler scales. */
  async servesCustomMetrics(): Promise<boolean> {
    return (await this.find('/apis/custom.metrics.k8s.io')) !== null;
  }

  /** How the operator would replace the pods that run now. */
  replacement(
    service: WantedService,
    template: PlannedTemplate,
    deployment: Deployment | null,
  ): Promise<Replacement> {
    const path = collectionPath(resources.pods, service.namespace);
    return withClusterError(path, async () => {
      const labelSelector = `${labels.service}=${service.name}`;
      const pods = await this.client.listAll<Pod>(path, { labelSelector });
      return (await this.rollouts.decide(service, template, deployment, pods, new Date())).replacement;
    });
  }

  /** The Gateway that carries the service's route now. */
  async gateway(namespace: string, name: string): Promise<Gateway | null> {
    const route = await this.find<HttpRoute & { spec?: { parentRefs?: readonly Partial<Gateway>[] } }>(
      objectPath(resources.httpRoutes, namespace, name),
    );
    const parent = route?.spec?.parentRefs?.[0];
    return parent?.name === undefined
      ? null
      : { name: parent.name, namespace: parent.namespace ?? namespace };
  }

  /**
   * What the API server has against a manifest, by its schema and rules; null: nothing, or it may not be asked
   * (no permission, a namespace that is still to be made, no such resource yet).
   */
  async refusal(object: KubeObject): Promise<string | null> {
    try {
      await this.client.apply(object, { dryRun: true });
      return null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw unreachable('a dry run', error);
      return error.status === 400 || error.status === 422 ? error.message : null;
    }
  }

  close(): void {
    this.client.close();
  }
}

async function withClusterError<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw unreachable(path, error);
  }
}

function unreachable(what: string, cause: unknown): ClusterError {
  return new ClusterError(`reading ${what} of the cluster failed: ${errorText(cause)}`, { cause });
}
