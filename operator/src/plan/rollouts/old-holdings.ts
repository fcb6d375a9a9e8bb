// What old pods hold besides their nodes' resources, and would free for a new one: devices of claims, and quota of a queue.
// An old pod that holds another claim, or nothing of the queue, makes no room.

import { labels } from '@llmservice/crds';
import type { DeviceMatch } from '../../domain/wanted-service.js';
import type { Pod, PodSpec } from '../../kube/types.js';
import { isMeant, type ListedDevice } from '../fit/device-match.js';
import { mayRunOn, type NodeTraits } from '../fit/node-choice.js';
import { podRequests } from '../fit/pod-requests.js';
import { readDeviceRequest } from '../pods/device-claim.js';
import type { Replacement } from './replacement.js';

/** A new template, and what it replaces. */
export interface NewTemplate {
  readonly pod: PodSpec;
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** What its claim selects by; null: that is not known, or it has none of ours. */
  readonly match: DeviceMatch | null;
  /** Pods of other templates that are to stay and have their nodes. */
  readonly oldPods: readonly Pod[];
}

type Nodes = readonly NodeTraits[] | null;
type Devices = readonly ListedDevice[] | null;

/** How old pods are to go, so that a claim can be allocated that cannot be now; `surge`: none would help. */
export function byClaims(rollout: NewTemplate, nodes: Nodes, devices: Devices): Replacement {
  const oldPods = onUsableNodes(rollout, nodes);
  if (oldPods.some((old) => holdsAsMuch(old, rollout))) return 'drain';
  const { count = null } = readDeviceRequest(rollout.metadata) ?? {};
  if (count === null) return 'surge';
  const meant = meantDevices(rollout, devices);
  const frees = (leaving: readonly Pod[]): boolean =>
    leaving.some(({ spec }) => {
      const here = meant.filter(({ node }) => node === spec?.nodeName);
      const free = here.filter(({ holders }) => holders === null).length;
      const usable = here.filter((device) => isFreeWithout(leaving, device)).length;
      return usable > free && usable >= count;
    });
  if (oldPods.some((old) => frees([old]))) return 'drain';
  return frees(oldPods) ? 'drainAll' : 'surge';
}

/** Whether the new pod is known to get its devices once all old ones are gone. */
export function mayHaveDevices(rollout: NewTemplate, nodes: Nodes, devices: Devices): boolean {
  if ((rollout.pod.resourceClaims ?? []).length === 0) return true;
  if (nothingMeant(rollout, devices)) return false;
  const oldPods = onUsableNodes(rollout, nodes);
  if (oldPods.some((old) => holdsAsMuch(old, rollout))) return true;
  const request = readDeviceRequest(rollout.metadata);
  if (request === null) return false;
  const usable = meantDevices(rollout, devices).filter((device) => isFreeWithout(oldPods, device));
  const names = new Set(usable.map(({ node }) => node));
  return [...names].some(
    (name) =>
      (nodes === null || nodes.some((node) => node.name === name && mayRunOn(rollout.pod, node))) &&
      usable.filter(({ node }) => node === name).length >= request.count,
  );
}

/** Whether an old pod holds as much of the same queue's quota as Kueue misses for the new one. */
export function freesQuota(rollout: NewTemplate, message: string): boolean {
  if (!message.includes('insufficient unused quota')) return false;
  const queue = rollout.metadata.labels?.[labels.queue];
  if (queue === undefined) return false;
  const wanted = podRequests(rollout.pod);
  const named = [...message.matchAll(/insufficient unused quota for (\S+) in flavor/g)].map(
    ([, resource = '']) => resource,
  );
  const missing = named.length === 0 ? Object.keys(wanted) : named;
  const claims = (rollout.pod.resourceClaims ?? []).length > 0;
  // Kueue counts devices of claims by a name that no pod requests.
  const byClaim = claims && (named.length === 0 || named.some((resource) => !(resource in wanted)));
  return rollout.oldPods.some((old) => {
    const held = podRequests(old.spec ?? {});
    return (
      old.metadata.labels?.[labels.queue] === queue &&
      (!byClaim || holdsAsMuch(old, rollout)) &&
      missing.every((resource) =>
        resource in wanted ? (held[resource] ?? 0) >= (wanted[resource] ?? 0) : byClaim,
      )
    );
  });
}

/** By the same template of claims, or by a request for at least as many devices of the same class and selectors. */
function holdsAsMuch({ metadata, spec }: Pod, rollout: NewTemplate): boolean {
  const templates = (spec?.resourceClaims ?? []).map((claim) => claim.resourceClaimTemplateName);
  const wanted = (rollout.pod.resourceClaims ?? []).map((claim) => claim.resourceClaimTemplateName);
  if (wanted.length > 0 && wanted.every((name) => name !== undefined && templates.includes(name)))
    return true;
  const [before, after] = [readDeviceRequest(metadata), readDeviceRequest(rollout.metadata)];
  if (before === null || after === null) return false;
  const kind = ({ deviceClass, selectors }: typeof before): string =>
    JSON.stringify([deviceClass, selectors]);
  return kind(before) === kind(after) && before.count >= after.count;
}

function onUsableNodes({ pod, oldPods }: NewTemplate, nodes: Nodes): readonly Pod[] {
  if (nodes === null) return oldPods;
  const usable = new Set(nodes.filter((node) => mayRunOn(pod, node)).map(({ name }) => name));
  return oldPods.filter(({ spec }) => usable.has(spec?.nodeName ?? ''));
}

function meantDevices({ match }: NewTemplate, devices: Devices): ListedDevice[] {
  if (match === null || devices === null) return [];
  return devices.filter((device) => device.node !== null && isMeant(match, device));
}

/** The drivers list devices, and none is what the claim selects. */
function nothingMeant({ match }: NewTemplate, devices: Devices): boolean {
  return match !== null && devices !== null && !devices.some((device) => isMeant(match, device));
}

function isFreeWithout(leaving: readonly Pod[], { holders }: ListedDevice): boolean {
  if (holders === null) return true;
  const uids = leaving.map(({ metadata }) => metadata.uid);
  return holders.length > 0 && holders.every((uid) => uids.includes(uid));
}
