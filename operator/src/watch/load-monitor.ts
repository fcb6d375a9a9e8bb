// How far the load is of pods that run but are not ready. Their /health answers while loading.

import type { Pod } from '../kube/types.js';
import type { LoadProgress } from '../status/observed.js';
import { isReady, runtimeStatus } from '../status/pod-state.js';
import { HealthMonitor } from './health-monitor.js';

export class LoadMonitor extends HealthMonitor<LoadProgress> {
  protected isAsked(pod: Pod): boolean {
    return !isReady(pod) && runtimeStatus(pod)?.state?.running !== undefined;
  }

  protected read(body: unknown): LoadProgress | null {
    return parseLoad(body);
  }
}

/** The `load` of a /health body; anything else is null. */
function parseLoad(body: unknown): LoadProgress | null {
  const load = (body as { load?: Partial<LoadProgress> | null } | null)?.load;
  if (load === null || load === undefined) return null;
  const { phase, bytesDone, bytesTotal, bytesPerSecond, etaSeconds, warmup } = load;
  if (!isPhase(phase) || !isCount(bytesDone) || !isCount(bytesTotal)) return null;
  return {
    phase,
    bytesDone,
    bytesTotal,
    bytesPerSecond: isCount(bytesPerSecond) ? bytesPerSecond : null,
    etaSeconds: isCount(etaSeconds) ? etaSeconds : null,
    warmup:
      isCount(warmup?.done) && isCount(warmup.total) ? { done: warmup.done, total: warmup.total } : null,
  };
}

function isPhase(value: unknown): value is LoadProgress['phase'] {
  return value === 'pull' || value === 'load' || value === 'warmup';
}

/** Of a status, which holds whole numbers up to this. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
