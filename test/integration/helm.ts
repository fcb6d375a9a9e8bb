// Helm with the project's charts: what they render, with caches and configuration of its own.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeConfig } from '@kubernetes/client-node';
import { repository, toolFolders } from '../processes.js';

export class Helm {
  readonly program: string;
  private readonly home = mkdtempSync(join(tmpdir(), 'llmservice-helm-'));

  constructor() {
    const [folder = ''] = toolFolders('helm');
    this.program = join(folder, 'helm');
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }

  /** What a program prints that renders charts, Helm itself or one that calls it. */
  async render(program: string, args: readonly string[]): Promise<string> {
    const homes = { HELM_CACHE_HOME: this.home, HELM_CONFIG_HOME: this.home, HELM_DATA_HOME: this.home };
    const env = { ...process.env, ...homes };
    const { stdout } = await promisify(execFile)(program, args, { cwd: repository, env, maxBuffer: 2 ** 26 });
    return stdout;
  }

  /** What a command of Helm's prints that works on a cluster. */
  on(config: KubeConfig, ...args: string[]): Promise<string> {
    const access = [
      `--kube-apiserver=${config.getCurrentCluster()?.server ?? ''}`,
      `--kube-token=${config.getCurrentUser()?.token ?? ''}`,
      '--kube-insecure-skip-tls-verify',
    ];
    return this.render(this.program, [...args, ...access]);
  }

  release(name: string, chart: string, ...args: string[]): Promise<string> {
    return this.render(this.program, [
      'template',
      name,
      `charts/${chart}`,
      '--kube-version',
      '1.34.3',
      ...args,
    ]);
  }

  template(chart: string, ...args: string[]): Promise<string> {
    return this.release('llmservice-operator', chart, ...args);
  }
}
