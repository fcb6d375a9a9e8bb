// The rule of thumb by which other systems plan, for checkpoints whose headers say nothing here (another container, an
// architecture that the engine does not run): weight files and a fifth more, on a power of two of devices. It is an
// estimate: it knows of no context, no sequences and no states.

const overhead = 1.2;
const maxDevices = 64;

export interface RoughEstimate {
  readonly bytes: number;
  /** Null: the memory of a device is not known, or the largest number of devices has too little. */
  readonly devices: number | null;
}

/** @param deviceBytes memory of one device; null: not known */
export function roughEstimate(
  fileBytes: number,
  deviceBytes: number | null,
  memoryUtilizationPercent: number,
): RoughEstimate {
  const bytes = Math.ceil(fileBytes * overhead);
  if (deviceBytes === null) return { bytes, devices: null };
  const perDevice = (deviceBytes * memoryUtilizationPercent) / 100;
  for (let devices = 1; devices <= maxDevices; devices *= 2) {
    if (devices * perDevice >= bytes) return { bytes, devices };
  }
  return { bytes, devices: null };
}
