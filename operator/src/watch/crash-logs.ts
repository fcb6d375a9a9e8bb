// The reasons of pods whose engine reports none: read from their logs, once for each run that ended. A log that cannot be
// had is no obstacle: Kubernetes keeps its last lines in the termination message.

import { text } from 'node:stream/consumers';
import { annotations, formatTerminationMessage, runtimeContainer, type Failure } from '@llmservice/crds';
import type { KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';
import type { ContainerStatus, Pod, TerminatedState } from '../kube/types.js';
import { runtimeStatus } from '../status/pod-state.js';
import { readVllmLog } from '../status/vllm-failure.js';

const requestTimeoutMs = 5_000;
const lastLines = 500;
const maxBytes = 2 ** 18;
const maxRemembered = 1_000;

/** A run of the runtime's container that ended with an error. */
interface EndedRun {
  readonly key: string;
  readonly state: TerminatedState;
  /** Whether another run has begun. */
  readonly previous: boolean;
}

export class CrashLogs {
  /** By run; null: its log named no cause, or was not to be had. */
  private readonly failures = new Map<string, Failure | null>();

  constructor(private readonly client: Pick<KubeClient, 'open'>) {}

  /** Reads the logs of the pods that have ended since the last look. */
  async read(pods: readonly Pod[]): Promise<void> {
    await Promise.all(pods.map((pod) => this.readOne(pod)));
  }

  /** The pods with the reasons of their logs as termination messages. */
  explained(pods: readonly Pod[]): Pod[] {
    return pods.map((pod) => {
      const run = endedRun(pod);
      if (run === null) return pod;
      const failure = this.failures.get(run.key) ?? readVllmLog(run.state.message ?? '');
      return failure === null ? pod : withMessage(pod, run, formatTerminationMessage(failure));
    });
  }

  private async readOne(pod: Pod): Promise<void> {
    const run = endedRun(pod);
    if (run === null || this.failures.has(run.key)) return;
    this.remember(run.key, await this.lookUp(pod, run.previous));
  }

  private async lookUp({ metadata }: Pod, previous: boolean): Promise<Failure | null> {
    try {
      const body = await this.client.open({
        method: 'GET',
        path: `${objectPath(resources.pods, metadata.namespace ?? '', metadata.name)}/log`,
        query: { container: runtimeContainer, previous, tailLines: lastLines, limitBytes: maxBytes },
        signal: AbortSignal.timeout(requestTimeoutMs),
      });
      return readVllmLog(await text(body));
    } catch {
      return null;
    }
  }

  private remember(key: string, failure: Failure | null): void {
    this.failures.set(key, failure);
    const [oldest] = this.failures.keys();
    if (this.failures.size > maxRemembered && oldest !== undefined) this.failures.delete(oldest);
  }
}

function endedRun(pod: Pod): EndedRun | null {
  if (pod.metadata.annotations?.[annotations.engineRuntime] === undefined) return null;
  const container = runtimeStatus(pod);
  const now = container?.state?.terminated;
  const state = now ?? container?.lastState?.terminated;
  if (state === undefined || state.exitCode === 0) return null;
  const key = `${pod.metadata.uid ?? ''}/${state.finishedAt ?? String(container?.restartCount ?? 0)}`;
  return { key, state, previous: now === undefined };
}

function withMessage(pod: Pod, { state, previous }: EndedRun, message: string): Pod {
  const explained = { terminated: { ...state, message } };
  const change = (status: ContainerStatus): ContainerStatus => {
    if (status.name !== runtimeContainer) return status;
    return previous ? { ...status, lastState: explained } : { ...status, state: explained };
  };
  const containerStatuses = (pod.status?.containerStatuses ?? []).map(change);
  return { ...pod, status: { ...pod.status, containerStatuses } };
}
