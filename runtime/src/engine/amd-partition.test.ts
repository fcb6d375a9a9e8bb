import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { amdPartition, type AmdPartition } from './amd-partition.js';
import { sysfsUnder } from './engine-device.js';

const kfd = 'sys/class/kfd/kfd/topology/nodes';

/** As kernels write them for an MI300X (gfx942, 0x74a1). */
const gpuNode = (own: Readonly<Record<string, number>>): string =>
  Object.entries({
    cpu_cores_count: 0,
    simd_count: 152 * (own['num_xcc'] ?? 1),
    mem_banks_count: 1,
    caches_count: 626,
    io_links_count: 8,
    p2p_links_count: 1,
    cpu_core_id_base: 0,
    simd_id_base: 2147487744,
    max_waves_per_simd: 8,
    lds_size_in_kb: 64,
    gds_size_in_kb: 0,
    wave_front_size: 64,
    array_count: 32,
    simd_arrays_per_engine: 1,
    cu_per_simd_array: 10,
    simd_per_cu: 4,
    max_slots_scratch_cu: 32,
    gfx_target_version: 90402,
    vendor_id: 4098,
    device_id: 29857,
    hive_id: 11129033257386353000n,
    ...own,
  })
    .map(([name, value]) => `${name} ${String(value)}\n`)
    .join('');
const cpuNode = 'cpu_cores_count 96\nsimd_count 0\nlocation_id 0\ndomain 0\nnum_xcc 0\n';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sysfs-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function partitionIn(files: Readonly<Record<string, string>>, pciAddress: string): AmdPartition {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return amdPartition(pciAddress, sysfsUnder(root));
}

const card = (address: string, compute: string, memory: string): Record<string, string> => ({
  [`sys/bus/pci/devices/${address}/current_compute_partition`]: `${compute}\n`,
  [`sys/bus/pci/devices/${address}/current_memory_partition`]: `${memory}\n`,
});

describe('an MI300X', () => {
  test('as a whole is spx_nps1 of eight dies', () => {
    const files = {
      ...card('0000:c1:00.0', 'SPX', 'NPS1'),
      [`${kfd}/0/properties`]: cpuNode,
      [`${kfd}/1/properties`]: gpuNode({ domain: 0, location_id: 0xc100, num_xcc: 8 }),
    };
    expect(partitionIn(files, '0000:c1:00.0')).toEqual({ mode: 'spx_nps1', xcds: 8 });
  });

  // The number of the partition: in the function's bits upstream, from bit 28 on in some releases of amdgpu-dkms.
  test.each([
    ['the function', 1],
    ['the highest bits', 2 ** 28],
  ])('in eight parts is found with its partitions numbered in %s', (_, step) => {
    const nodes = Array.from({ length: 8 }, (_, part) => ({
      [`${kfd}/${String(part + 2)}/properties`]: gpuNode({
        domain: 0,
        location_id: 0xc100 + part * step,
        num_xcc: 1,
      }),
    }));
    const files = Object.assign(card('0000:c1:00.0', 'CPX', 'NPS4'), ...nodes) as Record<string, string>;
    expect(partitionIn(files, '0000:c1:00.0')).toEqual({ mode: 'cpx_nps4', xcds: 1 });
  });

  test.each([
    ['DPX', 'NPS2', 'dpx_nps2', 4],
    ['QPX', 'NPS1', 'qpx_nps1', 2],
  ])('in %s and %s', (compute, memory, mode, xcds) => {
    const files = {
      ...card('0001:05:01.0', compute, memory),
      [`${kfd}/1/properties`]: gpuNode({ domain: 1, location_id: 0x0508, num_xcc: xcds }),
    };
    expect(partitionIn(files, '0001:05:01.0')).toEqual({ mode, xcds });
  });

  test('is not taken for another card, nor for the same place of another domain', () => {
    const files = {
      ...card('0000:c1:00.0', 'SPX', 'NPS1'),
      ...card('0000:df:00.0', 'CPX', 'NPS4'),
      [`${kfd}/1/properties`]: gpuNode({ domain: 0, location_id: 0xc100, num_xcc: 8 }),
      [`${kfd}/2/properties`]: gpuNode({ domain: 1, location_id: 0xdf00, num_xcc: 4 }),
      [`${kfd}/3/properties`]: gpuNode({ domain: 0, location_id: 0xdf00, num_xcc: 1 }),
    };
    expect(partitionIn(files, '0000:df:00.0')).toEqual({ mode: 'cpx_nps4', xcds: 1 });
  });
});

describe('what the driver does not report is not made up', () => {
  test('where there is no such card', () => {
    expect(partitionIn({}, '0000:c1:00.0')).toEqual({ mode: null, xcds: null });
  });

  test('where nodes are those of others, and cannot be read', () => {
    mkdirSync(join(root, kfd, '1/properties'), { recursive: true });
    const files = card('0000:c1:00.0', 'CPX', 'NPS1');
    expect(partitionIn(files, '0000:c1:00.0')).toEqual({ mode: 'cpx_nps1', xcds: null });
  });

  test('on an MI210, which is not divided and whose driver counts one die', () => {
    const files = { [`${kfd}/1/properties`]: gpuNode({ domain: 0, location_id: 0x4300, num_xcc: 1 }) };
    expect(partitionIn(files, '0000:43:00.0')).toEqual({ mode: null, xcds: 1 });
  });

  test('while the mode changes', () => {
    expect(partitionIn(card('0000:c1:00.0', 'UNKNOWN', 'NPS1'), '0000:c1:00.0').mode).toBeNull();
  });
});
