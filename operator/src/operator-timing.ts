// How long an operator waits, looks and holds, where tests have it otherwise.

import type { LeaderElectionOptions } from './watch/leader-election.js';
import type { StreamChecksOptions } from './watch/stream-checks.js';

export type OperatorTiming = Pick<LeaderElectionOptions, 'leaseMs' | 'renewDeadlineMs' | 'retryMs'> & {
  readonly resyncMs?: number;
  readonly unsyncedMs?: number;
  readonly silenceMs?: number;
  readonly loadIntervalMs?: number;
  readonly idleIntervalMs?: number;
  readonly metricsApiMs?: number;
  readonly clusterLookMs?: number;
  readonly imagePullMs?: number;
  readonly unschedulableMs?: number;
  readonly streamPauses?: StreamChecksOptions['pauses'];
};
