// How many replicas a load needs, as Kubernetes' HorizontalPodAutoscaler decides it
// (https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#algorithm-details), with one difference:
// while some pod cannot be seen, none goes.

export interface Load {
  /** The metric's value of each pod that answers and reported it. */
  readonly values: readonly number[];
  /** Pods that answer and could not be seen. */
  readonly unseen: number;
  /** Pods that do not answer yet. */
  readonly starting: number;
}

export interface ScalingRule {
  /** The metric's value per pod that is aimed for. */
  readonly target: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly stabilizationMs: number;
}

interface Recommendation {
  readonly atMs: number;
  readonly replicas: number;
}

/** What is kept of a service between two decisions; times by a monotonic clock. */
export interface ScalingMemory {
  readonly recommendations: readonly Recommendation[];
  /** As it was left. */
  readonly replicas: number;
}

/** A load this close to its target changes nothing. */
const tolerance = 0.1;
/** Sums of fractions end just above a whole number. */
const epsilon = 1e-9;

/** What the load alone asks for, without bounds and without regard to what was asked for before. */
export function replicasFor(load: Load, target: number, current: number): number {
  const { values, unseen, starting } = load;
  if (values.length === 0) return current;
  const sum = values.reduce((total, value) => total + value, 0);
  const ratio = sum / values.length / target;
  if (isClose(ratio) || (ratio < 1 && unseen > 0)) return current;
  if (ratio < 1) return Math.max(0, Math.ceil(sum / target - epsilon));
  // Pods that do not answer yet will take a part: until then they count as idle, so that no more are made than needed.
  const pods = values.length + unseen + starting;
  const diluted = sum / pods / target;
  return isClose(diluted) || diluted < 1 ? current : Math.max(current, Math.ceil(sum / target - epsilon));
}

/** Of what the window recommended the most counts, and the bounds last. */
export function decideReplicas(
  memory: ScalingMemory | null,
  load: Load,
  rule: ScalingRule,
  current: number,
  nowMs: number,
): ScalingMemory {
  const inBounds = (count: number): number => Math.min(rule.maxReplicas, Math.max(rule.minReplicas, count));
  const isOurs = memory?.replicas === current;
  // What somebody else set stands as long as what was recommended; so does what was there before the first look.
  const set = isOurs ? [] : [{ atMs: nowMs, replicas: current }];
  const recent = (memory?.recommendations ?? [])
    .filter(({ atMs }) => nowMs - atMs < rule.stabilizationMs)
    // Who set fewer overrules what was recommended before; what the load asks for now they do not.
    .filter(({ replicas }) => isOurs || replicas <= current);
  const needed = replicasFor(load, rule.target, current);
  // NaN would be written as null, which is 0 to the API server, and a service with 0 is never scaled again.
  const asked = { atMs: nowMs, replicas: inBounds(Number.isInteger(needed) ? needed : current) };
  const recommendations = [...recent, ...(rule.stabilizationMs > 0 ? set : []), asked];
  const replicas = Math.max(...recommendations.map((each) => each.replicas));
  return { recommendations, replicas: inBounds(replicas) };
}

function isClose(ratio: number): boolean {
  return Math.abs(1 - ratio) <= tolerance + epsilon;
}
