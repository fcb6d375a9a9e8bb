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

/** As the kubelet does: one that lost the Lease, on a machine that stalls, ends and begins anew. */
export function keepOperator(api: ApiServer, ...flags: string[]): Pick<OperatorProcess, 'stop'> {
  let stopped = false;
  const begin = (): OperatorProcess => {
    const started = OperatorProcess.start(api, 'operator-a', ...flags);
    started.child.once('exit', () => {
      if (stopped) return;
      void started.stop();
      current = begin();
    });
    return started;
  };
  let current = begin();
  return {
    stop: (signal) => {
      stopped = true;
      return current.stop(signal);
    },
  };
}
