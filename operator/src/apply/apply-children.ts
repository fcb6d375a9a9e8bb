// Brings the cluster's children of one service to the planned ones: applies what differs, removes what is left over.

import type { V1PodSpec } from '@kubernetes/client-node';
import { annotations } from '@llmservice/crds';
import { canaryName } from '../kube/canary-name.js';
import { ApiError } from '../kube/client.js';
import { controllerUid } from '../kube/controller-uid.js';
import type { Deployment, KubeObject, Pod } from '../kube/types.js';
import { resources } from '../kube/resources.js';
import type { PlannedChildren } from '../plan/children.js';
import type { ChildOwner } from '../plan/identity/child-identity.js';
import type { Revision } from '../plan/rollouts/revision.js';
import type { Obstacle } from '../domain/plan-outcome.js';
import { ImageVolumesDroppedError } from './image-volumes.js';
import { needsApply } from './needs-apply.js';
import { NameTakenError, type Writer } from './writer.js';

/** What is there of one service, and where results of writes are put. */
export interface ChildrenView {
  live(desired: KubeObject): KubeObject | null;
  remember(object: KubeObject): void;
  configMaps(): readonly KubeObject[];
  revisions(): readonly KubeObject[];
  /** What a service may have or not: a route by any provider, the activator's endpoints, and what a canary has. */
  optional(): readonly KubeObject[];
}

/**
 * @param revision stored before the Deployment, so that no template runs that is not kept; one of ours is left alone
 * @returns what stands in the way, or null when all is as planned
 */
export async function applyChildren(
  writer: Writer,
  view: ChildrenView,
  children: PlannedChildren,
  revision: KubeObject,
  owner: ChildOwner,
): Promise<Obstacle | null> {
  const live = view.live(revision);
  const stored = live !== null && controllerUid(live) === owner.uid ? [] : [revision];
  const { adapterList, adaptersJudged } = children;
  const lists = adapterList !== null && adaptersJudged ? [adapterList] : [];
  const { configMap, claimTemplates, groupServices } = children;
  const before = [...lists, configMap, ...claimTemplates, ...groupServices];
  const all = [...before, ...stored, children.deployment, ...children.others];
  // Its pods must not answer with the stable ones, nor may a route lead to what another has by its name.
  const tries = children.others.some(({ metadata }) => metadata.name === canaryName(owner.name));
  return applyObjects(writer, view, all, owner, tries ? 'stop' : 'goOn');
}

/**
 * @param atObstacle whether the objects behind one that could not be applied are applied
 * @returns what stands in the way of the first that could not be applied, or null
 */
export async function applyObjects(
  writer: Writer,
  view: Pick<ChildrenView, 'live' | 'remember'>,
  objects: readonly KubeObject[],
  owner: ChildOwner,
  atObstacle: 'goOn' | 'stop' = 'goOn',
): Promise<Obstacle | null> {
  let obstacle: Obstacle | null = null;
  for (const desired of objects) {
    const live = view.live(desired);
    if (!needsApply(desired, live)) continue;
    try {
      view.remember(await writer.apply(desired, live, owner));
    } catch (error) {
      obstacle ??= toObstacle(error, desired);
      if (atObstacle === 'stop') break;
    }
  }
  return obstacle;
}

/** Errors that a person must act on; all others (conflicts, an API server that is away) are tried again. */
function toObstacle(error: unknown, { kind, metadata }: KubeObject): Obstacle {
  if (error instanceof NameTakenError)
    return { reason: 'NameTaken', message: error.message, terminal: false };
  if (error instanceof ImageVolumesDroppedError)
    return { reason: 'ImageVolumesNotServed', message: error.message, terminal: true };
  if (error instanceof ApiError && isRefusal(error)) {
    return {
      reason: 'InvalidSpec',
      message: `The API server refuses ${kind} ${metadata.name}: ${error.message}. Correct the fields that it names.`,
      terminal: true,
    };
  }
  if (error instanceof ApiError && error.status === 403) {
    return {
      reason: 'Forbidden',
      message: `${kind} ${metadata.name} was refused: ${error.message}. Check quotas, policies and the operator's role.`,
      terminal: false,
    };
  }
  throw error;
}

/** A field that the kind does not have is an internal error to the API server. */
function isRefusal({ status, message }: ApiError): boolean {
  return status === 400 || status === 422 || (status === 500 && message.includes('typed patch object'));
}

/** What pruning keeps children for. */
export interface Kept {
  readonly kept: readonly Revision[];
  /** Revisions that are as good as absent. */
  readonly unreadable: readonly KubeObject[];
  readonly deployment: Deployment | null;
  readonly pods: readonly Pod[];
  /** Of prefill pods, which have the same configs; null: there are to be none. */
  readonly prefill: Pick<Kept, 'deployment' | 'pods'> | null;
}

/**
 * Removes routes, policies and endpoints of the activator that are no longer wanted, revisions that nothing goes back
 * to, and engine configs that no pod can come to need any more. What does not belong to the service is left.
 */
export async function pruneChildren(
  writer: Writer,
  view: ChildrenView,
  children: PlannedChildren,
  { kept, unreadable, deployment, pods, prefill }: Kept,
  owner: ChildOwner,
): Promise<void> {
  const ours = (objects: readonly KubeObject[]): KubeObject[] =>
    objects.filter((object) => controllerUid(object) === owner.uid);
  for (const object of ours(view.optional())) {
    const { kind, metadata } = object;
    if (kind === resources.claimTemplates.kind) continue;
    if (children.others.some((each) => each.kind === kind && each.metadata.name === metadata.name)) continue;
    const isOfCanary = metadata.name === canaryName(owner.name);
    if (isOfCanary && (children.canaryLeftovers === 'keep' || isGoing(object))) continue;
    const handsOver = children.canaryLeftovers === 'handOver' && kind === resources.deployments.kind;
    // Requests reach it until its pods are the service's own.
    if (isOfCanary && children.canaryLeftovers === 'handOver' && !handsOver) continue;
    await writer.delete(object, owner, handsOver ? 'Orphan' : 'Background');
  }

  const revisions = new Set(kept.map(({ object }) => object.metadata.name));
  for (const revision of ours(view.revisions())) {
    // In its place the right one is stored at the next look.
    const isUnreadable = unreadable.some(({ metadata }) => metadata.uid === revision.metadata.uid);
    if (isUnreadable || !revisions.has(revision.metadata.name)) await writer.delete(revision, owner);
  }

  const workloads = [deployment, ...(prefill === null ? [] : [prefill.deployment])];
  if (!workloads.every((each) => each !== null && isRolledOut(each))) return;
  const lists = children.adapterList === null ? [] : [children.adapterList];
  const configMaps = [...kept.map(({ template }) => template.configMap), ...lists];
  const wanted = new Set(configMaps.map(({ metadata }) => metadata.name));
  const used = new Set(
    [...pods, ...(prefill?.pods ?? [])].map((pod) => pod.metadata.annotations?.[annotations.configHash]),
  );
  for (const configMap of ours(view.configMaps())) {
    if (wanted.has(configMap.metadata.name)) continue;
    if (!used.has(configMap.metadata.annotations?.[annotations.configHash]))
      await writer.delete(configMap, owner);
  }
  const named = new Set(kept.flatMap(({ template }) => claimTemplatesIn(template.pod.spec)));
  for (const object of ours(view.optional())) {
    const { kind, metadata } = object;
    if (kind === resources.claimTemplates.kind && !named.has(metadata.name))
      await writer.delete(object, owner);
  }
}

function claimTemplatesIn({ resourceClaims = [] }: V1PodSpec): string[] {
  return resourceClaims.flatMap(({ resourceClaimTemplateName }) => resourceClaimTemplateName ?? []);
}

/** What it owned is not let go yet. */
function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** No ReplicaSet but the newest has pods, so that none can start one that wants an older config. */
function isRolledOut({ metadata, status }: Deployment): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.replicas ?? 0) === (status?.updatedReplicas ?? 0)
  );
}
