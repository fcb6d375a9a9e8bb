import { describe, expect, test } from '@jest/globals';
import { usableMemoryBytes } from './memory-limit.js';

const gib = 1024 ** 3;
const meminfo = { '/proc/meminfo': `MemTotal: 99 kB\nMemAvailable:   ${(16 * gib) / 1024} kB\n` };
const measure = (files: Record<string, string>): number => usableMemoryBytes((path) => files[path] ?? null);

describe('usableMemoryBytes', () => {
  test.each([
    ['without a group, what is available', {}, 16 * gib],
    [
      'v2: the tightest of the group and those above it',
      {
        '/proc/self/cgroup': '0::/pods/one\n',
        '/sys/fs/cgroup/pods/one/memory.max': 'max\n',
        '/sys/fs/cgroup/pods/memory.max': `${4 * gib}\n`,
      },
      4 * gib,
    ],
    [
      'v2 in a container: the root of what is mounted',
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': `${2 * gib}\n` },
      2 * gib,
    ],
    [
      'v1 in a container, whose own path is not mounted',
      {
        '/proc/self/cgroup': '5:cpu:/x\n4:memory:/kubepods/pod1/abc\n',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${3 * gib}\n`,
      },
      3 * gib,
    ],
    [
      'v1 without a limit: what is available',
      {
        '/proc/self/cgroup': '4:memory:/\n',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      },
      16 * gib,
    ],
    [
      'a limit above what is available: what is available',
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': `${64 * gib}\n` },
      16 * gib,
    ],
  ])('%s', (_, files, expected) => {
    expect(measure({ ...meminfo, ...files })).toBe(expected);
  });

  test('says what to set when nothing can be read', () => {
    expect(() => measure({})).toThrow('accelerator.memoryBytesPerDevice');
  });
});
