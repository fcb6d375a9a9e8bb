import { describe, expect, test } from '@jest/globals';
import { findAccelerator, profilesLike, profilesOfProduct } from './accelerators.js';

describe('a profile', () => {
  test('of a partition has its part of the card', () => {
    const card = findAccelerator('mi300x')!;
    const partition = findAccelerator('mi300x-cpx-nps4')!;
    expect(card.memoryMiB / 1024).toBeCloseTo(192, 0);
    expect(partition.memoryMiB).toBe(card.memoryMiB / 8);
    expect(partition.bandwidth).toBe(Math.round(card.bandwidth / 8));
    expect(partition).toMatchObject({
      resources: ['amd.com/gpu', 'amd.com/cpx_nps4'],
      fp8: 'e4m3fnuz',
      wave: 64,
    });
  });

  test('of an NVIDIA partition has the memory that the driver lists and both of its resources', () => {
    expect(findAccelerator('h100-3g.40gb')).toMatchObject({
      memoryMiB: 39.5 * 1024,
      resources: ['nvidia.com/mig-3g.40gb', 'nvidia.com/gpu'],
    });
  });

  test.each(['nothing', 'constructor', ''])('%j is none', (name) => {
    expect(findAccelerator(name)).toBeNull();
  });
});

test('names that are like one that is none are those of its card, or the cards', () => {
  expect(profilesLike('h100-2g')).toContain('h100-2g.20gb');
  expect(profilesLike('h100-2g')).not.toContain('h200');
  expect(profilesLike('nothing')).toEqual(expect.arrayContaining(['t4', 'h100', 'mi300x']));
  expect(profilesLike('nothing')).not.toContain('mi300x-cpx-nps4');
});

test.each([
  ['NVIDIA-H100-80GB-HBM3', 'h100'],
  ['NVIDIA-A100-SXM4-80GB', 'a100-80gb'],
  ['A100-SXM4-40GB', 'a100-40gb'],
  ['NVIDIA-A10', 'a10'],
  ['AMD_Instinct_MI300X_OAM', 'mi300x'],
])('the product %s is of the card %s and of no other', (product, card) => {
  const found = profilesOfProduct(product);
  expect(found.filter(([, { partition }]) => partition === null).map(([name]) => name)).toEqual([card]);
  expect(found.every(([name]) => name.startsWith(card))).toBe(true);
});

test('a product that is not in the list has no profile', () => {
  expect(profilesOfProduct('NVIDIA-GeForce-RTX-5090')).toEqual([]);
});
