// Every library gets a place or none: in the image, from the node, on request, or in place of another.

import { describe, expect, test } from '@jest/globals';

import { placesOf } from './libraries.js';

const findIn =
  (...there: readonly string[]) =>
  (library: string): string | null =>
    there.includes(library) ? `/lib/${library}` : null;

describe('places of libraries', () => {
  test('a library that neither image nor node has is found out', () => {
    const places = placesOf(['libc.so.6', 'libcuda.so.1', 'libnuma.so.1'], findIn('libc.so.6'));
    expect(places.map(({ from }) => from)).toEqual([
      '/lib/libc.so.6',
      expect.stringContaining("node's driver"),
      null,
    ]);
  });

  test('of the HIP runtimes that are tried in turn, one is enough', () => {
    const runtimes = ['libamdhip64.so.5', 'libamdhip64.so.6', 'libamdhip64.so.7'];
    const places = placesOf(runtimes, findIn('libamdhip64.so.6'));
    expect(places.map(({ from }) => from)).toEqual([
      'not needed beside libamdhip64.so.6',
      '/lib/libamdhip64.so.6',
      'not needed beside libamdhip64.so.6',
    ]);
    expect(placesOf(runtimes, findIn()).every(({ from }) => from === null)).toBe(true);
  });
});
