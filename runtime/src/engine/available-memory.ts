// How much memory this process may plan with: what its control group allows (version 1 or 2), or what is free.

import { readFile } from 'node:fs/promises';

const limitFiles = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];

/** Bytes: the smaller of the control group's limit and the machine's available memory. */
export async function availableMemory(): Promise<number> {
  const limits = await Promise.all(limitFiles.map(readLimit));
  return Math.min(await machineAvailable(), ...limits);
}

/** Infinity where there is no such file, or it says "max". */
async function readLimit(file: string): Promise<number> {
  try {
    const limit = Number(await readFile(file, 'utf8'));
    return Number.isFinite(limit) ? limit : Infinity;
  } catch {
    return Infinity;
  }
}

async function machineAvailable(): Promise<number> {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8'))?.[1];
  if (kib === undefined) throw new Error('/proc/meminfo has no MemAvailable line');
  return Number(kib) * 1024;
}
