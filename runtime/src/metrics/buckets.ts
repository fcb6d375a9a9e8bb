// Histogram buckets as existing vLLM dashboards expect them. Those of times are in seconds.

export const timeToFirstTokenBuckets = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  2560,
];

export const interTokenBuckets = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];

export const requestTimeBuckets = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
];

/** Of tokens in a step. */
export const stepTokensBuckets = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];

/** Of answers to one prompt. */
export const answersBuckets = [1, 2, 5, 10, 20];

/** Of times that a request was preempted. */
export const preemptionsBuckets = [1, 2, 3, 4, 5, 10, 20];

/** 1, 2, 5, 10, 20, 50 and so on, up to `most`. */
export function tokenBuckets(most: number): number[] {
  const buckets: number[] = [];
  for (let unit = 1; unit <= most; unit *= 10) {
    for (const factor of [1, 2, 5]) if (factor * unit <= most) buckets.push(factor * unit);
  }
  return buckets;
}
