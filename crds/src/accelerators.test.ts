import { describe, expect, test } from '@jest/globals';
import { findAccelerator, profilesLike } from './accelerators.js';

describe('a profile', () => {
  test('of a partition has its part of the card', () => {
    const card = findAccelerator('mi300x')!;
    const partition = findAccelerator('mi300x-cpx-nps4')!;
    expect(card.memoryMiB / 1024).toBeCloseTo(192, 0);
    expect(partition.memoryMiB).toBe(card.memoryMiB / 8);
    expect(partition.bandwidth).toBe(Math.round(card.bandwidth / 8));
    expect(partition).toMatchObject({ resources: ['amd.com/gpu'], fp8: 'e4m3fnuz', wave: 64 });
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
