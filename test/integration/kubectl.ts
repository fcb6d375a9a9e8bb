// Runs the real kubectl against a test's API server, as a person would.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { toolFolders } from '../processes.js';

/** What a command printed and how it ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

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
  async run(args: readonly string[], input = ''): Promise<CommandResult> {
    const child = spawn(this.program, [...this.access, ...args], {
      env: { ...process.env, KUBECONFIG: '/dev/null' },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  }

  /** Like `run`, but gives the standard output. @throws with kubectl's own words when it fails */
  async output(args: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Installs the LlmService CRD and waits until the API serves it. */
  async installCrd(): Promise<void> {
    const crd = new URL('../../crds/llmservices.llmservice.dev.yaml', import.meta.url);
    await this.output(['apply', '--server-side', '-f', '-'], await readFile(crd, 'utf8'));
    const name = 'crd/llmservices.llmservice.dev';
    await this.output(['wait', '--for=condition=Established', '--timeout=30s', name]);
  }
}
