// Sizes in bytes, and how they are written.

export const mib = 1024 * 1024;

/** Sizes for people: GiB with two digits, or MiB under 0.1 GiB. */
export function formatGiB(bytes: number): string {
  return bytes < 0.1 * 1024 * mib
    ? `${(bytes / mib).toFixed(1)} MiB`
    : `${(bytes / (1024 * mib)).toFixed(2)} GiB`;
}
