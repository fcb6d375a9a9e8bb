// The running local cluster as tests see it: kubectl, the gateway's and the S3 server's address, and parts to stop.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { run } from '../processes.js';

export const repository = join(fileURLToPath(new URL('.', import.meta.url)), '..', '..');
export const kubeconfig = join(repository, '.local/cluster/kubeconfig');

/** The one address of the node: API server, gateway (port 80) and S3 (port 9000) answer there. */
export const nodeAddress = /server: 'https:\/\/([0-9.]+):/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
/** The same S3 server, as pods reach it. */
export const s3InCluster = 'http://s3.storage.svc.cluster.local:9000';

/** Runs kubectl with `input` on its standard input. @throws Error with kubectl's own words */
export async function kubectl(args: readonly string[], input = ''): Promise<string> {
  const program = join(repository, '.local/bin/kubectl');
  const { code, stdout, stderr } = await run(program, args, input, { KUBECONFIG: kubeconfig });
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

export async function getJson<T>(args: readonly string[]): Promise<T> {
  return JSON.parse(await kubectl(['get', ...args, '-o', 'json'])) as T;
}

export async function apply(...objects: readonly object[]): Promise<void> {
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
}

/** Stops, starts or restarts one program of the cluster. */
export async function clusterPart(
  action: 'stop' | 'start' | 'restart',
  part: 's3' | 'apiserver',
): Promise<void> {
  await promisify(execFile)(join(repository, 'deploy/local/cluster.sh'), [action, part]);
}

/**
 * Signals the process of a pod that runs `program`, not the init process above it, as the kernel does: process 1 of a
 * container cannot get SIGKILL or SIGSTOP from within. A pod's name is the host name of its containers.
 */
export function signalInPod(pod: string, program: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  const read = (pid: string, file: string): string[] => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
    } catch {
      // It has ended meanwhile.
      return [];
    }
  };
  const pids = readdirSync('/proc').filter((pid) => {
    const [executable, ...rest] = read(pid, 'cmdline');
    return (
      read(pid, 'environ').includes(`HOSTNAME=${pod}`) && executable !== 'tini' && rest.includes(program)
    );
  });
  if (pids.length !== 1) throw new Error(`${String(pids.length)} processes of ${pod} run ${program}`);
  process.kill(Number(pids[0]), signal);
}
