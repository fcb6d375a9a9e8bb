// The operator as it runs in a pod: a process of its own that leads by the lease, under a user that the audit log names.

import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start, stop } from '../processes.js';
import type { ApiServer, User } from './api-server.js';

const main = fileURLToPath(new URL('../../operator/dist/main.js', import.meta.url));

export class OperatorProcess {
  private constructor(
    readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /** @param more flags */
  static start(api: ApiServer, user: User, ...more: string[]): OperatorProcess {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-operator-'));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, api.kubeConfig(user).exportConfig(), { mode: 0o600 });
    const args = ['--lease-namespace', 'default', '--identity', user, '--port', '0'];
    const images = ['--runtime-image-cpu', 'example.org/runtime:1', '--allow-endpoint', '127.0.0.1'];
    const env = { KUBECONFIG: kubeconfig };
    return new OperatorProcess(
      start(process.execPath, [main, ...args, ...images, ...more], join(folder, 'log'), env),
      folder,
    );
  }

  /** Does nothing where it has ended. */
  async stop(signal?: NodeJS.Signals): Promise<void> {
    await stop(this.child, signal);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
