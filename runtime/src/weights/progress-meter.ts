// Bytes done, rate over the last ten seconds, and the time left, of one phase of a load. The clock comes in.

export interface Bytes {
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface LoadProgress extends Bytes {
  readonly phase: 'pull' | 'load';
  readonly bytesPerSecond: number;
  /** Null while the rate is not known. */
  readonly etaSeconds: number | null;
}

const windowMs = 10_000;
const sampleEveryMs = 250;
/** A shorter time says no rate: bytes come in bursts. */
const minRateMs = 1_000;

export class ProgressMeter {
  private samples: { readonly at: number; readonly bytes: number }[];

  /** @param bytesDone what was there when the meter was made, such as of a resumed pull: it does not count into the rate */
  constructor(
    private readonly phase: LoadProgress['phase'],
    private bytesTotal: number,
    private bytesDone: number,
    private readonly now: () => number,
  ) {
    this.samples = [{ at: now(), bytes: bytesDone }];
  }

  add(bytes: number): void {
    this.set(this.bytesDone + bytes, this.bytesTotal);
  }

  set(bytesDone: number, bytesTotal: number): void {
    this.bytesDone = bytesDone;
    this.bytesTotal = bytesTotal;
    const at = this.now();
    const last = this.samples.at(-1);
    if (last !== undefined && at - last.at < sampleEveryMs) return;
    this.samples = this.samples.filter((sample) => at - sample.at <= windowMs);
    this.samples.push({ at, bytes: bytesDone });
  }

  read(): LoadProgress {
    const oldest = this.samples[0];
    const elapsedMs = oldest === undefined ? 0 : this.now() - oldest.at;
    const moved = oldest === undefined ? 0 : this.bytesDone - oldest.bytes;
    const bytesPerSecond = elapsedMs >= minRateMs && moved > 0 ? (moved * 1000) / elapsedMs : 0;
    const left = this.bytesTotal - this.bytesDone;
    return {
      phase: this.phase,
      bytesDone: this.bytesDone,
      bytesTotal: this.bytesTotal,
      bytesPerSecond: Math.round(bytesPerSecond),
      etaSeconds: bytesPerSecond > 0 ? Math.ceil(left / bytesPerSecond) : null,
    };
  }
}
