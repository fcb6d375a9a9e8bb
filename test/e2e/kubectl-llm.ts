// `kubectl llm` as the real kubectl finds it, on the local cluster and in the tests' namespace.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { run, type CommandResult } from '../processes.js';
import { kubeconfig, repository } from './cluster.js';
import { namespace } from './service.js';

export class KubectlLlm {
  private readonly folder = mkdtempSync(join(tmpdir(), 'llmservice-e2e-'));
  private readonly program = join(repository, '.local/bin/kubectl');

  constructor() {
    symlinkSync(join(repository, 'cli/bin/kubectl-llm.js'), join(this.folder, 'kubectl-llm'));
  }

  run(args: readonly string[], input = '', more: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
    return run(this.program, ['llm', ...args, '-n', namespace], input, { ...this.env(), ...more });
  }

  /** Runs while the test runs. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams {
    return spawn(this.program, ['llm', ...args, '-n', namespace], { env: { ...process.env, ...this.env() } });
  }

  /** The same on a terminal, which script(1) gives it. */
  startOnTerminal(args: readonly string[]): ChildProcessWithoutNullStreams {
    const command = [this.program, 'llm', ...args, '-n', namespace].join(' ');
    return spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, ...this.env(), TERM: 'xterm' },
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private env(): NodeJS.ProcessEnv {
    const path = [this.folder, process.env['PATH'] ?? ''].join(delimiter);
    return { KUBECONFIG: kubeconfig, PATH: path, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' };
  }
}
