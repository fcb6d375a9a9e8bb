// What a pod takes of its node, as the scheduler counts it: per resource, and one of the node's pods.

import type { PodSpec } from '../../kube/types.js';
import { parseQuantity } from '../../resource/quantity.js';

/** By resource name: bytes, cores, devices. */
export type Requests = Readonly<Record<string, number>>;

type Amounts = Readonly<Record<string, string | number>>;

export function parseAmounts(amounts: Amounts = {}): Requests {
  return Object.fromEntries(
    Object.entries(amounts).map(([resource, amount]) => [resource, parseQuantity(amount) ?? 0]),
  );
}

export function podRequests({ containers = [], initContainers = [], overhead }: PodSpec): Requests {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const before = initContainers.filter(({ restartPolicy }) => restartPolicy !== 'Always');
  const requestsOf = ({ resources }: { resources?: { requests?: Amounts } }): Requests =>
    parseAmounts(resources?.requests);
  const running = [...containers, ...sidecars].map(requestsOf).reduce(sum, {});
  const most = before.map(requestsOf).reduce(larger, running);
  return [parseAmounts(overhead), { pods: 1 }].reduce(sum, most);
}

export function sum(a: Requests, b: Requests): Requests {
  return combine(a, b, (left, right) => left + right);
}

export function difference(a: Requests, b: Requests): Requests {
  return combine(a, b, (left, right) => left - right);
}

function larger(a: Requests, b: Requests): Requests {
  return combine(a, b, Math.max);
}

function combine(a: Requests, b: Requests, by: (left: number, right: number) => number): Requests {
  const result: Record<string, number> = { ...a };
  for (const [resource, amount] of Object.entries(b)) result[resource] = by(a[resource] ?? 0, amount);
  return result;
}
