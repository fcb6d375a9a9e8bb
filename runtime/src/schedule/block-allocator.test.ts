import { describe, expect, test } from '@jest/globals';
import { BlockAllocator } from './block-allocator.js';

describe('BlockAllocator', () => {
  test('hands out each block once, then none', () => {
    const allocator = new BlockAllocator(3);
    expect([allocator.take(), allocator.take(), allocator.take()].sort()).toEqual([0, 1, 2]);
    expect(allocator.available).toBe(0);
    expect(() => allocator.take()).toThrow('no KV block is free');
  });

  test('takes back what it gave, and refuses what it did not', () => {
    const allocator = new BlockAllocator(2);
    const block = allocator.take();
    allocator.give([block]);
    expect(allocator.available).toBe(2);
    expect(() => allocator.give([block])).toThrow('is not taken');
    expect(() => allocator.give([9])).toThrow('is not taken');
  });
});
