// Nodes with devices that nobody has: the real scheduler and the controllers that make pods beside a test's API server, and
// kwok in the kubelets' place. What it plays is in fake-nodes.yaml.

import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start, stop, toolFolders } from '../processes.js';
import type { ApiServer } from './api-server.js';

const stages = fileURLToPath(new URL('fake-nodes.yaml', import.meta.url));
const controllers = ['deployment-controller', 'replicaset-controller', 'endpointslice-controller'];
/** As if the API server were theirs alone: what is measured is not how they spare it. */
const rates = ['--kube-api-qps', '500', '--kube-api-burst', '1000'];

export class FakeNodes {
  private constructor(
    private readonly api: ApiServer,
    private readonly folder: string,
    private readonly programs: readonly ChildProcess[],
  ) {}

  /** @param more controllers beside those that make pods */
  static start(api: ApiServer, more: readonly string[] = []): FakeNodes {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-nodes-'));
    const [kubernetes = '', kwok = ''] = toolFolders('kubernetes', 'kwok');
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, api.kubeConfig().exportConfig(), { mode: 0o600 });
    const common = ['--kubeconfig', kubeconfig, '--leader-elect=false', '--secure-port', '0', ...rates];
    const run = (program: string, ...args: string[]): ChildProcess =>
      start(program, args, join(folder, `${program.split('/').at(-1) ?? ''}.log`));
    return new FakeNodes(api, folder, [
      run(
        join(kubernetes, 'kube-controller-manager'),
        ...common,
        ...['--controllers', [...controllers, ...more].join(',')],
        ...['--concurrent-deployment-syncs', '20', '--concurrent-replicaset-syncs', '20'],
      ),
      run(join(kubernetes, 'kube-scheduler'), ...common),
      run(
        join(kwok, 'kwok'),
        ...['--kubeconfig', kubeconfig, '--manage-all-nodes', '--config', stages, '--cidr', '10.0.0.1/16'],
      ),
    ]);
  }

  /** A node of a pool (a label of that name) with this many of amd.com/gpu. */
  async add(name: string, pool: string, devices: number): Promise<void> {
    const capacity = { cpu: '64', memory: '1Ti', 'ephemeral-storage': '10Ti', pods: '110' };
    const amounts = { ...capacity, 'amd.com/gpu': String(devices) };
    await this.request('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { pool, 'kubernetes.io/hostname': name } },
      status: { capacity: amounts, allocatable: amounts },
    });
    // The API server taints new nodes as not ready, for a controller to remove it that is not there.
    await this.request('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: null } });
  }

  async stop(): Promise<void> {
    for (const program of this.programs) await stop(program, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private request(method: 'POST' | 'PATCH', path: string, body: object): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return this.api.admin.request({ method, path, body, contentType });
  }
}
