// Ends one pod by an eviction, which its disruption budget may put off, and reports how what was generated with it ends.

import { setTimeout as sleep } from 'node:timers/promises';
import { runtimeContainer } from '@llmservice/crds';
import { Refusal } from '../command-line.js';
import { ApiError, type KubeClient } from '../kube/client.js';
import { orClusterError } from '../kube/connect.js';
import { linesOf } from '../kube/lines.js';
import { objectPath, resources } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import { counting, none, type DrainedGenerations } from './drained-generations.js';

const pollMs = 1_000;
const retryMs = 2_000;

export interface Eviction {
  readonly client: KubeClient;
  readonly say: (line: string) => void;
  /** By performance.now(). */
  readonly deadline: number;
}

/**
 * Resolves once the pod is gone, and with it the pod that answers.
 * @param answering the pod itself, or the leader of its group, which goes with it
 * @throws ClusterError where it may not be evicted, Refusal where it is not gone in time
 */
export async function evictPod(pod: Pod, answering: Pod, eviction: Eviction): Promise<DrainedGenerations> {
  const { client, say, deadline } = eviction;
  const key = nameOf(pod);
  const path = pathOf(pod);
  const log = new AbortController();
  let counts = none;
  const followed = followLog(
    client,
    pathOf(answering),
    log.signal,
    (line) => (counts = counting(counts, line)),
  );
  try {
    if (!(await evict(pod, path, eviction))) return counts;
    say(
      answering === pod
        ? `${key} was asked to end: it finishes what it generates`
        : `${key} was asked to end: its group ends with it, and what ${nameOf(answering)} generates`,
    );
    for (const each of new Set([pod, answering])) {
      while (await isThere(each, client)) {
        if (performance.now() > deadline) throw new Refusal(`${nameOf(each)} has not ended in time`);
        await sleep(pollMs);
      }
    }
    // Its log ended with it; the last lines may still be on their way.
    await Promise.race([followed, sleep(pollMs)]);
  } finally {
    log.abort();
  }
  return counts;
}

/** A pod of a group that was made again has its name. */
async function isThere(pod: Pod, client: KubeClient): Promise<boolean> {
  const now = await orClusterError(() => client.find<Pod>(pathOf(pod)));
  return now !== null && now.metadata.uid === pod.metadata.uid;
}

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;
const pathOf = ({ metadata }: Pod): string =>
  objectPath(resources.pods, metadata.namespace ?? '', metadata.name);

/** @returns whether it was still there */
async function evict(pod: Pod, path: string, { client, say, deadline }: Eviction): Promise<boolean> {
  const { name, namespace = '', uid } = pod.metadata;
  const deleteOptions = { preconditions: { uid } };
  let waiting = false;
  for (;;) {
    try {
      await client.request({
        method: 'POST',
        path: `${path}/eviction`,
        body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions },
      });
      return true;
    } catch (error) {
      // A rollout, an autoscaler or another pod of its group may have been faster.
      if (error instanceof ApiError && error.status === 404) return false;
      const isConflict = error instanceof ApiError && error.status === 409;
      if (isConflict && !(await isThere(pod, client))) return false;
      if (!isConflict && !(error instanceof ApiError && error.status === 429)) {
        await orClusterError(() => Promise.reject(error as Error));
      }
      if (!waiting && !isConflict)
        say(`${namespace}/${name} must wait for its disruption budget: ${(error as Error).message}`);
      waiting ||= !isConflict;
      if (performance.now() > deadline) {
        throw new Refusal(`the disruption budget of ${namespace}/${name} did not let it go in time`, {
          cause: error,
        });
      }
      await sleep(retryMs);
    }
  }
}

/** From now on until its log ends; one that cannot be read is left out. */
async function followLog(
  client: KubeClient,
  path: string,
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<void> {
  try {
    const query = { container: runtimeContainer, follow: true, tailLines: 0 };
    const body = await client.open({ method: 'GET', path: `${path}/log`, query, signal });
    for await (const line of linesOf(body)) onLine(line);
  } catch {
    // What was seen until then is printed.
  }
}
