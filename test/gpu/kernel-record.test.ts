import { describe, expect, test } from '@jest/globals';

import { digestOfKernels, includedFiles } from './kernel-record.js';
import { sectionsOf } from './kernel-table.js';

describe('includedFiles', () => {
  const files: Record<string, string> = {
    'kernels/rows.cu':
      '#include <cmath>\n#include "backends/rows.h"\n  # include "ops/ops.h"\n// #include "no.h"\n',
    'native/src/backends/rows.h': '#if A\n#include "ops/ops.h"\n#else\n#include "backends/other.h"\n#endif\n',
    'native/src/backends/other.h': '#include "backends/rows.h"\n',
    'native/src/ops/ops.h': '#include "backends/gpu/vendor/mma_host.h"\n',
  };

  test('follows what is included on any condition but for the emulator, and circles once', () => {
    expect(includedFiles('kernels/rows.cu', (path) => files[path]!)).toEqual([
      'kernels/rows.cu',
      'native/src/backends/other.h',
      'native/src/backends/rows.h',
      'native/src/ops/ops.h',
    ]);
  });
});

describe('digestOfKernels', () => {
  const rows = 'native/src/backends/gpu/kernels/rows.cu';
  const digest = (path = rows, said = 'rows', compilers = ['clang 19']): string =>
    digestOfKernels(path, said, compilers);

  test.each([
    ['source', digest('native/src/backends/gpu/kernels/copy.cu')],
    ['rows of the table', digest(rows, 'others')],
    ['compilers', digest(rows, 'rows', ['clang 20'])],
  ])('depends on the %s', (_, other) => {
    expect(digest()).toMatch(/^[0-9a-f]{16}$/);
    expect(digest()).toBe(digest());
    expect(other).not.toBe(digest());
  });
});

test('sectionsOf keeps the page, but for the sections of other files', () => {
  const page = '# Kernels\n\n## a.cu\n\n1\n\n## b.cu\n\n2\n\n## c.cu\n\n3\n';
  expect(sectionsOf(page, ['a.cu', 'b.cu', 'c.cu'])).toBe(page);
  expect(sectionsOf(page, ['c.cu', 'a.cu'])).toBe('# Kernels\n\n## a.cu\n\n1\n\n## c.cu\n\n3\n');
});
