// How much memory this process may use: the tightest control-group limit (v1 or v2) above it, or, without one,
// what the machine has available. Reading is passed in, so that the rules can be tested on any machine.

/** Text of a file, or null when it is not there. */
export type ReadText = (path: string) => string | null;

/** v1 says "no limit" by a number near 2^63; nothing real comes close to this. */
const unlimitedBytes = 2 ** 60;

/** @throws when neither a limit nor /proc/meminfo can be read */
export function usableMemoryBytes(read: ReadText): number {
  const available = availableBytes(read('/proc/meminfo') ?? '');
  const limits = cgroupFiles(read('/proc/self/cgroup') ?? '').flatMap((file) => {
    const bytes = Number(read(file)?.trim() || NaN);
    return Number.isFinite(bytes) && bytes < unlimitedBytes ? [bytes] : [];
  });
  const least = Math.min(...limits, available ?? Infinity);
  if (Number.isFinite(least)) return least;
  throw new Error('the memory limit cannot be measured here: set accelerator.memoryBytesPerDevice');
}

/**
 * Files that may hold a limit: of this process's group and of every group above it. Inside a container the mounted
 * tree begins at its own group, so that most of these paths do not exist there: the root one does.
 */
function cgroupFiles(selfCgroup: string): string[] {
  return selfCgroup.split('\n').flatMap((line) => {
    // "0::/path" in v2, "9:memory:/path" in v1.
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined) return [];
    if (controllers === '') return ancestors(path).map((dir) => `/sys/fs/cgroup${dir}/memory.max`);
    if (controllers?.split(',').includes('memory') !== true) return [];
    return ancestors(path).map((dir) => `/sys/fs/cgroup/memory${dir}/memory.limit_in_bytes`);
  });
}

/** "/a/b" gives "/a/b", "/a" and "". */
function ancestors(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return Array.from({ length: parts.length + 1 }, (_, i) =>
    parts
      .slice(0, parts.length - i)
      .map((part) => `/${part}`)
      .join(''),
  );
}

function availableBytes(meminfo: string): number | null {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}
