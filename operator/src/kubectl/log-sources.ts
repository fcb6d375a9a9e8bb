// Which logs of a pod there are, oldest first: of the container that pulls weights, of a run that ended, of the one that
// runs. Pure.

import { runtimeContainer } from '@llmservice/crds';
import type { ContainerStatus, Pod, TerminatedState } from '../kube/types.js';

export interface LogSource {
  readonly pod: string;
  readonly container: string;
  /** Of the run before the one that runs. */
  readonly previous: boolean;
  /** Whether more may come. */
  readonly running: boolean;
  /** Differs from run to run. */
  readonly key: string;
  readonly title: string;
}

export function logSources({ metadata, status }: Pod): LogSource[] {
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  return [...initContainerStatuses, ...containerStatuses].flatMap((container) => {
    const { name, restartCount, lastState } = container;
    const make = (previous: boolean, run: number, what: string): LogSource => ({
      pod: metadata.name,
      container: name,
      previous,
      running: !previous && container.state?.running !== undefined,
      key: `${metadata.uid ?? metadata.name}/${name}/${run}`,
      title: `${metadata.name} ${name}${what}`,
    });
    const ended = name === runtimeContainer ? lastState?.terminated : undefined;
    return [
      ...(ended === undefined
        ? []
        : [make(true, restartCount - 1, `, the run before: ${describeEnd(ended)}`)]),
      ...(hasLog(container) ? [make(false, restartCount, endOf(container))] : []),
    ];
  });
}

function hasLog({ state }: ContainerStatus): boolean {
  return state?.running !== undefined || state?.terminated !== undefined;
}

function endOf({ state }: ContainerStatus): string {
  return state?.terminated === undefined ? '' : `: ${describeEnd(state.terminated)}`;
}

function describeEnd({ reason, exitCode }: TerminatedState): string {
  return `ended with ${exitCode}${reason === undefined ? '' : ` (${reason})`}`;
}
