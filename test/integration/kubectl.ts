// Runs the real kubectl against a test's API server, as a person would.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { eventually, run, toolFolders, type CommandResult } from '../processes.js';

export class Kubectl {
  private readonly program: string;
  private readonly access: readonly string[];

  constructor(config: KubeConfig) {
    const [folder = ''] = toolFolders('kubernetes');
    this.program = join(folder, 'kubectl');
    this.access = [
      '--insecure-skip-tls-verify',
      `--server=${config.getCurrentCluster()?.server ?? ''}`,
      `--token=${config.getCurrentUser()?.token ?? ''}`,
    ];
  }

  /** Runs kubectl with `input` on its standard input. */
  run(args: readonly string[], input = ''): Promise<CommandResult> {
    return run(this.program, [...this.access, ...args], input, { KUBECONFIG: '/dev/null' });
  }

  /** Like `run`, but gives the standard output. @throws with kubectl's own words when it fails */
  async output(args: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Installs a CRD of ours and waits until the API serves it. */
  async installCrd(
    plural: 'llmservices' | 'llmgateways' | 'llmserviceclasses' = 'llmservices',
  ): Promise<void> {
    const crd = new URL(`../../crds/${plural}.llmservice.dev.yaml`, import.meta.url);
    await this.output(['apply', '--server-side', '-f', '-'], await readFile(crd, 'utf8'));
    const name = `crd/${plural}.llmservice.dev`;
    // kubectl waits for no condition of what has no status yet.
    await eventually('the CRD', () =>
      this.output(['wait', '--for=condition=Established', '--timeout=30s', name]),
    );
  }
}
