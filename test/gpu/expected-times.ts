// What Qwen3.6-27B-FP8 should take on a card, by arithmetic: for each stage of a step the bytes that its memory moves and
// the operations of its matrix units, over what of their peaks kernels are taken to reach. The slower of the two is the
// stage's time, with what its launches take beside it.

/** What one rank runs on. Rates in operations a second, a multiply-add being two; bandwidth in bytes a second. */
export interface ExpectedDevice {
  readonly name: string;
  readonly ranks: number;
  readonly bandwidth: number;
  readonly rates: Operations;
  readonly launchSeconds: Launches;
}

/** Of a stage how many, of a device what each takes beyond its bytes and operations. */
export interface Launches {
  readonly products: number;
  readonly others: number;
}

/** Matrix operations by the type of their operands. */
export interface Operations {
  readonly fp8: number;
  readonly bf16: number;
  readonly fp32: number;
}

/** Of one rank: `times` in a step, each time so much. */
export interface Stage {
  readonly name: string;
  readonly times: number;
  readonly bytes: number;
  readonly operations: Operations;
  readonly launches: Launches;
  /** Seconds that nothing but waiting takes. */
  readonly waiting: number;
}

/** Rows are tokens; they see `context` positions on average. */
export interface ExpectedStep {
  readonly rows: number;
  readonly sequences: number;
  readonly context: number;
  /** Rows whose logits are wanted. */
  readonly outputs: number;
  /** Whether rows go through Gated DeltaNet in chunks of 64, else one by one. */
  readonly chunked: boolean;
}

/**
 * Of their peaks: what copies and large products are commonly seen to reach. Assumed: on an H200 products of one FP8 row read
 * at 46 to 74 %, the head at 94 %, and products of 8,192 rows reach 29 to 37 % (test/bench/RESULTS.md).
 */
export const assumedShares = { bandwidth: 0.8, matrix: 0.4 } as const;
/**
 * Beyond reading its weights, a product of one row takes 4.1 to 5.2 µs on an H200, a quantization before it 2.5
 * (deploy/docs/gpu.md), though launches overlap there. On AMD's devices they do not: another 3 µs each, assumed.
 */
const overlapped: Launches = { products: 4.2e-6, others: 2.5e-6 };
export const assumedGapSeconds = 3e-6;
/** Of a sum over ranks: a launch, and a flag that crosses the card. Assumed, not measured. */
export const assumedWaitSeconds = 5e-6;

// Matrix operations of a compute unit and clock: the MI300X data sheet's 2,614.9 TFLOP/s in FP8, 1,307.4 in BF16 and 163.4
// in float32 over its 304 units at 2.1 GHz.
const clock = 2.1e9;
const perClockAndUnit: Operations = { fp8: 4096, bf16: 2048, fp32: 256 };

/** A card of NVIDIA's, for stages that memory bounds. */
export function memoryBoundDevice(name: string, bandwidth: number): ExpectedDevice {
  const unbound: Operations = { fp8: Infinity, bf16: Infinity, fp32: Infinity };
  return { name, ranks: 1, bandwidth, rates: unbound, launchSeconds: overlapped };
}

/** @param units compute units of AMD's CDNA 3 */
export function expectedDevice(
  name: string,
  ranks: number,
  units: number,
  bandwidth: number,
): ExpectedDevice {
  const rate = (perClock: number): number => perClock * units * clock;
  const { fp8, bf16, fp32 } = perClockAndUnit;
  const launchSeconds: Launches = {
    products: overlapped.products + assumedGapSeconds,
    others: overlapped.others + assumedGapSeconds,
  };
  return {
    name,
    ranks,
    bandwidth,
    rates: { fp8: rate(fp8), bf16: rate(bf16), fp32: rate(fp32) },
    launchSeconds,
  };
}

/** Seconds that a stage's launches take beyond its bytes and operations, one time. */
export function launchSecondsOf(
  { launches: { products, others } }: Stage,
  { launchSeconds }: ExpectedDevice,
): number {
  return products * launchSeconds.products + others * launchSeconds.others;
}

/** Seconds of one time, and what takes most of them beside launches. */
export function timeOf(
  stage: Stage,
  device: ExpectedDevice,
): { readonly seconds: number; readonly bound: 'memory' | 'matrix units' | 'waiting' } {
  const memory = stage.bytes / (device.bandwidth * assumedShares.bandwidth);
  const { fp8, bf16, fp32 } = stage.operations;
  const matrix =
    (fp8 / device.rates.fp8 + bf16 / device.rates.bf16 + fp32 / device.rates.fp32) / assumedShares.matrix;
  const busy = Math.max(memory, matrix);
  const bound = stage.waiting > busy ? 'waiting' : memory >= matrix ? 'memory' : 'matrix units';
  return { seconds: busy + stage.waiting + launchSecondsOf(stage, device), bound };
}

export function stepSeconds(stages: readonly Stage[], device: ExpectedDevice): number {
  return stages.reduce((sum, stage) => sum + stage.times * timeOf(stage, device).seconds, 0);
}
