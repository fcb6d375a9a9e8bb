// Which part of an AMD card a device is, by what the kernel's driver says in sysfs. The modes of a card are files of
// its PCI device (Linux, "AMDGPU driver"; the files of /sys/class/drm/cardN/device are the same ones, but only the
// first partition's card leads there). What a partition is made of is in the topology of the compute driver (KFD).
// Pods see all of sysfs, save nodes of devices that are not theirs, whose files cannot be read.

/** Text of a file, and the names in a folder: null, and none, for what is not there or may not be read. */
export interface Sysfs {
  read(path: string): string | null;
  list(path: string): readonly string[];
}

export interface AmdPartition {
  /** How the card is divided, as accelerators' profiles and device plugins name it, such as `cpx_nps4`; null: not reported. */
  readonly mode: string | null;
  /** Dies of compute units that work as this device (XCD); null: not reported. */
  readonly xcds: number | null;
}

const nodesFolder = '/sys/class/kfd/kfd/topology/nodes';

/** @param pciAddress of the card, such as `0000:c1:00.0`: its partitions are all alike */
export function amdPartition(pciAddress: string, sysfs: Sysfs): AmdPartition {
  return { mode: modeOf(pciAddress, sysfs), xcds: xcdsOf(pciAddress, sysfs) };
}

function modeOf(pciAddress: string, sysfs: Sysfs): string | null {
  const readMode = (file: string): string | null => {
    const text = sysfs.read(`/sys/bus/pci/devices/${pciAddress}/${file}`)?.trim().toLowerCase() ?? '';
    // While a card changes its mode, the driver reports UNKNOWN.
    return /^(?:[sdtqc]px|nps[1248])$/.test(text) ? text : null;
  };
  const compute = readMode('current_compute_partition');
  const memory = readMode('current_memory_partition');
  return compute === null || memory === null ? null : `${compute}_${memory}`;
}

function xcdsOf(pciAddress: string, sysfs: Sysfs): number | null {
  const place = placeOf(pciAddress);
  for (const node of sysfs.list(nodesFolder)) {
    const properties = parseProperties(sysfs.read(`${nodesFolder}/${node}/properties`) ?? '');
    const xcds = properties.get('num_xcc') ?? 0;
    // CPUs are nodes too. Kernels report no XCDs before 6.5.
    if (xcds > 0 && place !== null && isAt(properties, place)) return xcds;
  }
  return null;
}

interface Place {
  readonly domain: number;
  /** Bus and device, as location_id has them: bits 15 to 8 and 7 to 3. */
  readonly location: number;
}

function placeOf(pciAddress: string): Place | null {
  const [, domain, bus, device] = /^([0-9a-f]+):([0-9a-f]{2}):([0-9a-f]{2})\.\d$/i.exec(pciAddress) ?? [];
  if (domain === undefined || bus === undefined || device === undefined) return null;
  return { domain: parseInt(domain, 16), location: (parseInt(bus, 16) << 8) | (parseInt(device, 16) << 3) };
}

/** Drivers write the partition's number into other bits: the function's, or those from 28 on (kfd_topology.c). */
function isAt(properties: ReadonlyMap<string, number>, { domain, location }: Place): boolean {
  const locationId = properties.get('location_id') ?? 0;
  return properties.get('domain') === domain && (locationId & 0xfff8) === location;
}

/** Lines of a name and a whole number. */
function parseProperties(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^(\w+) (\d+)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
}
