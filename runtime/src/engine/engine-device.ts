// What runs the model, as logs, /version and metrics report it: a GPU, a partition of one, or this machine's processors.

import type { EngineInfo, GpuDevice, GpuVendor } from '@llmservice/native';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { amdPartition, type Sysfs } from './amd-partition.js';

export interface EngineDevice {
  /** As its driver names it. */
  readonly name: string;
  /** `gfx942`, `sm_90`; on CPUs the instruction family that kernels use. */
  readonly architecture: string;
  /** AMD's compute units, NVIDIA's multiprocessors; on CPUs the engine's threads. */
  readonly computeUnits: number;
  /** Dies of compute units that are this device (AMD's XCDs); null: not reported, or no such device. */
  readonly xcds: number | null;
  /** Which part of the card it is, such as `cpx_nps4` or `3g.20gb`, where that is reported; null otherwise. */
  readonly partition: string | null;
  /** In total: the device's or partition's; on CPUs the machine's, or the control group's limit. */
  readonly memoryBytes: number;
}

/** @param device as the native engine lists it */
export function gpuOf(vendor: GpuVendor, device: GpuDevice, sysfs: Sysfs): EngineDevice {
  const { name, architecture, multiprocessors, memoryBytes, pciAddress } = device;
  const part = vendor === 'hip' ? amdPartition(pciAddress, sysfs) : { mode: migProfile(name), xcds: null };
  return {
    name: name || architecture, // libdrm has no name for cards that are newer than itself
    architecture,
    computeUnits: multiprocessors,
    xcds: part.xcds,
    partition: part.mode,
    memoryBytes,
  };
}

/** Without NVML, CUDA reports MIG in the name alone: `NVIDIA A100-SXM4-40GB MIG 3g.20gb`. */
function migProfile(name: string): string | null {
  return / MIG (\S+)$/.exec(name)?.[1] ?? null;
}

export function cpuOf({ isa, threads }: Pick<EngineInfo, 'isa' | 'threads'>): EngineDevice {
  return {
    name: cpus()[0]?.model.trim() || 'CPU',
    architecture: isa,
    computeUnits: threads,
    xcds: null,
    partition: null,
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Infinity),
  };
}

/** The machine's files; in tests those below a folder. */
export function sysfsUnder(root: string): Sysfs {
  return {
    read: (path) => orElse(null, () => readFileSync(root + path, 'utf8')),
    list: (path) => orElse([], () => readdirSync(root + path)),
  };
}

function orElse<T, U>(otherwise: U, look: () => T): T | U {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
