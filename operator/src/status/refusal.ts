// Why the API server refuses to make pods, as the Deployment's condition ReplicaFailure quotes it: which rule of the
// namespace it is, and what to do.

import type { Deployment, ObjectCondition } from '../kube/types.js';

export interface Refusal {
  readonly reason: string;
  /** What it is and what to do. */
  readonly message: string;
  /** Resources of which a quota leaves too little, as pods request them; empty where it is no quota. */
  readonly short: readonly string[];
  /** RFC 3339; null: not known. */
  readonly since: string | null;
}

const elsePrivileged =
  'Remove what is named from the spec, or have the label pod-security.kubernetes.io/enforce of the namespace changed.';
const needsPrivileged =
  'A folder of the node is for namespaces with the label pod-security.kubernetes.io/enforce: privileged; elsewhere set spec.model.cache.kind to pvc.';

/** Null: nothing is refused. */
export function readRefusal(deployment: Deployment | null): Refusal | null {
  const condition = deployment?.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  );
  if (condition === undefined) return null;
  return { short: [], ...explain(condition), since: condition.lastTransitionTime ?? null };
}

/** No refusal is longer; the time that a pattern takes may grow with the square of a text's length. */
const maxCharacters = 4096;

function explain({
  reason = 'ReplicaFailure',
  message: text = 'no message',
}: ObjectCondition): Omit<Refusal, 'since' | 'short'> & { readonly short?: readonly string[] } {
  const message = text.slice(0, maxCharacters);
  const quota = /exceeded quota: (.+), requested: (\S+), used: (\S+), limited: (\S+)/.exec(message);
  if (quota !== null) {
    const [, name = '', requested = '', used = '', limited = ''] = quota;
    return {
      reason: 'QuotaExceeded',
      message:
        `ResourceQuota ${name} has no room for a pod: it asks for ${requested}; used are ${used} of ${limited}. ` +
        'Stop what else uses it in this namespace, ask for less, or have the quota raised.',
      short: requested
        .split(',')
        .map((each) => each.replace(/=.*$/, '').replace(/^(requests|limits|count)[./]/, '')),
    };
  }
  const unsaid = /failed quota: ([^:]+): must specify ([^;]+)/.exec(message);
  if (unsaid !== null) {
    const [, name = '', fields = ''] = unsaid;
    return {
      reason: 'QuotaWantsLimits',
      message: `ResourceQuota ${name} wants every pod to say ${fields.trim()}. Set them in spec.resources.`,
    };
  }
  const security = /violates PodSecurity "([^"]+)": (.*)/s.exec(message);
  if (security !== null) {
    const [, level = '', what = ''] = security;
    return {
      reason: 'PodSecurityRefused',
      message:
        `The namespace admits pods of Pod Security level ${level} alone: ${what}. ` +
        (what.includes('hostPath') ? needsPrivileged : elsePrivileged),
    };
  }
  const account = /serviceaccount "([^"]+)" not found/.exec(message)?.[1];
  if (account !== undefined) {
    return {
      reason: 'ServiceAccountMissing',
      message: `There is no ServiceAccount ${account} here. Create it, or correct spec.serviceAccountName.`,
    };
  }
  const priority = /no PriorityClass with name (\S+) was found/.exec(message)?.[1];
  if (priority !== undefined) {
    return {
      reason: 'PriorityClassMissing',
      message: `There is no PriorityClass ${priority}. Create it, or correct spec.priorityClassName.`,
    };
  }
  const limits = /(?:maximum|minimum) \S+ usage per \S+ is [^,]+, but .*/.exec(message)?.[0];
  if (limits !== undefined) {
    return {
      reason: 'LimitRangeRefused',
      message: `A LimitRange of this namespace refuses the pod: ${limits.replace(/\.$/, '')}. Correct spec.resources.`,
    };
  }
  // Every try has another name.
  const words = message.replace(/^pods "[^"]*" is forbidden: /, '');
  return { reason, message: `Pods are refused: ${words}. Correct what the message names.` };
}
