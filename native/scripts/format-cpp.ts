// Generated C++ as `make format` would write it.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The style is that of .clang-format. */
export function formatCpp(text: string): string {
  const cwd = fileURLToPath(new URL('../../', import.meta.url));
  return execFileSync('clang-format', ['--assume-filename=native/src/generated.h'], {
    cwd,
    input: text,
    encoding: 'utf8',
  });
}
