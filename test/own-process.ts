// A process of its own for what is measured by the memory that a process has.

import { spawn } from 'node:child_process';

/**
 * Runs a module's text, which may call `gc()`, and gives what it prints. Without optimizing compilers: these take some
 * MiB once, when they first run. The test's own process will not do: its heap grows and shrinks by hundreds.
 */
export async function runModule(text: string): Promise<string> {
  const flags = ['--expose-gc', '--no-opt', '--no-maglev', '--input-type=module'];
  const child = spawn(process.execPath, [...flags, '--eval', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of child.stdout) printed += String(chunk);
  return printed;
}
