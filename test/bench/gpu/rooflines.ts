// What devices can do at most, by the names that their drivers give: the vendors' data sheets, dense.

export interface Roofline {
  /** Bytes a second of the device's memory. */
  readonly bandwidth: number;
  /** Operations a second of the matrix units in e4m3; null where they have no such form. */
  readonly e4m3: number | null;
  readonly bf16: number;
}

const tera = 1e12;
const roofline = (bandwidth: number, e4m3: number | null, bf16: number): Roofline => ({
  bandwidth: bandwidth * tera,
  e4m3: e4m3 === null ? null : e4m3 * tera,
  bf16: bf16 * tera,
});

/** The first whose name the driver's begins with or contains. */
const rooflines: readonly (readonly [name: string, roofline: Roofline])[] = [
  ['H200', roofline(4.8, 1979, 989)],
  ['H100 80GB HBM3', roofline(3.35, 1979, 989)],
  ['H100 NVL', roofline(3.9, 1671, 835)],
  ['H100 PCIe', roofline(2.0, 1513, 756)],
  ['B200', roofline(8.0, 4500, 2250)],
  ['A100-SXM4-80GB', roofline(2.039, null, 312)],
  ['A100-SXM4-40GB', roofline(1.555, null, 312)],
  ['L40S', roofline(0.864, 733, 362)],
  ['L4', roofline(0.3, 242, 121)],
  ['MI300X', roofline(5.3, 2615, 1307)],
  ['MI325X', roofline(6.0, 2615, 1307)],
  ['MI250X', roofline(1.638, null, 191.5)],
];

/** Null for a device that is not in the table: then no share of anything is shown. */
export function rooflineOf(deviceName: string): Roofline | null {
  return rooflines.find(([name]) => deviceName.includes(name))?.[1] ?? null;
}

/** Microseconds that so many bytes and operations take at least. */
export function minMicros(
  { bandwidth, e4m3, bf16 }: Roofline,
  { bytes, flops, eightBit }: { readonly bytes: number; readonly flops: number; readonly eightBit: boolean },
): number {
  const rate = eightBit ? (e4m3 ?? bf16) : bf16;
  return 1e6 * Math.max(bytes / bandwidth, flops / rate);
}
