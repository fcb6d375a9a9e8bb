// The commands for people, run as they run them: with a kubeconfig of a test's API server in a file.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, toolFolders, type CommandResult } from '../processes.js';
import type { ApiServer, User } from './api-server.js';

const programs = fileURLToPath(new URL('../../cli/bin/', import.meta.url));

export class Commands {
  private readonly folder = mkdtempSync(join(tmpdir(), 'llmservice-commands-'));

  constructor(private readonly api: ApiServer) {
    symlinkSync(join(programs, 'kubectl-llm.js'), join(this.folder, 'kubectl-llm'));
  }

  /** A file for `--kubeconfig`, of one of the API server's users. */
  kubeconfig(user: User = 'admin'): string {
    const file = join(this.folder, `${user}.kubeconfig`);
    writeFileSync(file, this.api.kubeConfig(user).exportConfig(), { mode: 0o600 });
    return file;
  }

  llmservice(args: readonly string[], user: User = 'admin'): Promise<CommandResult> {
    return run(process.execPath, [join(programs, 'llmservice.js'), ...args], '', this.env(user));
  }

  /** `kubectl llm`, found by the real kubectl. */
  kubectlLlm(args: readonly string[], user: User = 'admin'): Promise<CommandResult> {
    const [kubernetes = ''] = toolFolders('kubernetes');
    return run(join(kubernetes, 'kubectl'), ['llm', ...args], '', this.env(user));
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }

  private env(user: User): NodeJS.ProcessEnv {
    const path = [this.folder, process.env['PATH'] ?? ''].join(delimiter);
    return { KUBECONFIG: this.kubeconfig(user), PATH: path, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' };
  }
}
