import { expect, test } from '@jest/globals';
import type { GpuDevice } from '@llmservice/native';
import { totalmem } from 'node:os';
import type { Sysfs } from './amd-partition.js';
import { cpuOf, gpuOf } from './engine-device.js';

const gpu = (own: Partial<GpuDevice>): GpuDevice => ({
  name: 'kernel emulator',
  architecture: 'warp32',
  pciAddress: '0001:c1:02.0',
  memoryBytes: 8 * 2 ** 30,
  multiprocessors: 4,
  ...own,
});

const files = (texts: Readonly<Record<string, string>>): Sysfs => ({
  read: (path) => texts[path] ?? null,
  list: () => ['0', '1'],
});

test('a partition of an AMD card reports its mode, its dies and its own memory', () => {
  const sysfs = files({
    '/sys/bus/pci/devices/0000:c1:00.0/current_compute_partition': 'CPX\n',
    '/sys/bus/pci/devices/0000:c1:00.0/current_memory_partition': 'NPS4\n',
    '/sys/class/kfd/kfd/topology/nodes/1/properties': 'domain 0\nlocation_id 49411\nnum_xcc 1\n',
  });
  const device = gpu({
    name: 'AMD Instinct MI300X',
    architecture: 'gfx942',
    pciAddress: '0000:c1:00.0',
    multiprocessors: 38,
    memoryBytes: 24 * 2 ** 30,
  });
  expect(gpuOf('hip', device, sysfs)).toEqual({
    name: 'AMD Instinct MI300X',
    architecture: 'gfx942',
    computeUnits: 38,
    xcds: 1,
    partition: 'cpx_nps4',
    memoryBytes: 24 * 2 ** 30,
  });
});

test.each([
  ['NVIDIA H200', null],
  ['NVIDIA A100-SXM4-40GB MIG 3g.20gb', '3g.20gb'],
  ['NVIDIA H100 NVL MIG 1c.3g.47gb', '1c.3g.47gb'],
])('%s is partition %j', (name, partition) => {
  expect(gpuOf('cuda', gpu({ name, architecture: 'sm_90' }), files({}))).toMatchObject({
    name,
    partition,
    xcds: null,
  });
});

test('a card without a name goes by its architecture', () => {
  expect(gpuOf('hip', gpu({ name: '', architecture: 'gfx942' }), files({})).name).toBe('gfx942');
});

test('CPUs report their model, what kernels use of them and the memory that there is', () => {
  const device = cpuOf({ isa: 'avx512', threads: 3 });
  expect(device).toMatchObject({ architecture: 'avx512', computeUnits: 3, xcds: null, partition: null });
  expect(device.name).not.toBe('');
  expect(device.memoryBytes).toBeGreaterThan(2 ** 20);
  expect(device.memoryBytes).toBeLessThanOrEqual(totalmem());
});
