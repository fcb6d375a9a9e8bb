import { expect, test } from '@jest/globals';
import { textRoomMb } from './text-room.js';

const withLimit =
  (bytes: number) =>
  (path: string): string | null => {
    if (path === '/proc/self/cgroup') return '0::/';
    return path === '/sys/fs/cgroup/memory.max' ? String(bytes) : null;
  };

test.each([
  ['a small pod', 2 ** 30, 192],
  ['a pod of 8 GiB', 2 ** 33, 683],
  ['a node without a limit', 2 ** 38, 1024],
])('three processes of %s leave most of its memory', (_, bytes, mb) => {
  expect(textRoomMb(withLimit(bytes))).toBe(mb);
});

test('there is the least room where nothing reports the limit', () => {
  expect(textRoomMb(() => null)).toBe(192);
});
