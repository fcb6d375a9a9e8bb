// A real etcd and kube-apiserver without nodes, up in a few seconds: tests play kubelet and controllers by writing
// status. `admin` may everything, the operators what the test grants to their group. Every write is in the audit log.

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from '../../operator/src/kube/client.js';
import { eventually, freePort, start, stop, toolFolders } from '../processes.js';

const groups = {
  admin: 'system:masters',
  operator: 'operators',
  activator: 'activators',
  'operator-a': 'operators',
  'operator-b': 'operators',
} as const;
export type User = keyof typeof groups;
/** By which the API server's own slice of addresses names it: public, and nobody's. It is not reached there. */
export const publicAddress = '11.3.0.1';
const tokenOf = (user: string): string => `token-of-${user}`;

/** A write that the API server has answered. */
export interface AuditedWrite {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  /** HTTP status of the answer. */
  readonly code: number;
  /** When it was answered, in milliseconds since 1970. */
  readonly at: number;
}

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete'] }, { level: 'None' }],
};

export class ApiServer {
  private etcd: ChildProcess | null = null;
  private server: ChildProcess | null = null;

  private constructor(
    private readonly folder: string,
    private readonly programs: { readonly etcd: string; readonly apiServer: string },
    private readonly ports: { readonly client: number; readonly peer: number; readonly api: number },
    readonly admin: KubeClient,
  ) {}

  static async start(): Promise<ApiServer> {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-api-'));
    const [kubernetes = '', etcd = ''] = toolFolders('kubernetes', 'etcd');
    const ports = { client: await freePort(), peer: await freePort(), api: await freePort() };
    const programs = { etcd: join(etcd, 'etcd'), apiServer: join(kubernetes, 'kube-apiserver') };
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(join(folder, 'service-accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
    const users = Object.entries(groups).map(
      ([user, group]) => `${tokenOf(user)},${user},${user},"${group}"\n`,
    );
    writeFileSync(join(folder, 'tokens.csv'), users.join(''));
    writeFileSync(join(folder, 'audit-policy.yaml'), JSON.stringify(auditPolicy));
    const server = new ApiServer(folder, programs, ports, new KubeClient(kubeConfig(ports.api, 'admin')));
    server.startEtcd();
    server.startApi();
    await server.ready();
    return server;
  }

  kubeConfig(user: User = 'admin'): KubeConfig {
    return kubeConfig(this.ports.api, user);
  }

  /** Of a ServiceAccount, as its pods have it. */
  async accountConfig(namespace: string, name: string): Promise<KubeConfig> {
    const { status } = await this.admin.request<{ status: { token: string } }>({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    });
    return kubeConfig(this.ports.api, name, status.token);
  }

  /** All writes so far, in the order in which they were answered. */
  writes(): AuditedWrite[] {
    const lines = readFileSync(this.auditLog, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => {
      const { user, verb, objectRef, responseStatus, stageTimestamp } = JSON.parse(line) as AuditEvent;
      const { resource = '', name = '' } = objectRef ?? {};
      const at = Date.parse(stageTimestamp);
      return { user: user.username, verb, resource, name, code: responseStatus?.code ?? 0, at };
    });
  }

  private get auditLog(): string {
    return join(this.folder, 'audit.log');
  }

  /** Takes the API server away and gives it back, as an upgrade of the control plane does. @param more flags */
  async restart(signal: NodeJS.Signals = 'SIGTERM', more: readonly string[] = []): Promise<void> {
    if (this.server !== null) await stop(this.server, signal);
    this.startApi(more);
    await this.ready();
  }

  async stop(): Promise<void> {
    this.admin.close();
    // Nothing of it is kept, so that nothing needs to end in good order.
    for (const child of [this.server, this.etcd]) if (child !== null) await stop(child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private startEtcd(): void {
    const client = `http://127.0.0.1:${this.ports.client}`;
    const peer = `http://127.0.0.1:${this.ports.peer}`;
    this.etcd = start(
      this.programs.etcd,
      [
        ...['--data-dir', join(this.folder, 'etcd'), '--unsafe-no-fsync', '--log-level', 'warn'],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', `default=${peer}`],
      ],
      join(this.folder, 'etcd.log'),
    );
  }

  private startApi(more: readonly string[] = []): void {
    const key = join(this.folder, 'service-accounts.key');
    this.server = start(
      this.programs.apiServer,
      [
        ...['--etcd-servers', `http://127.0.0.1:${this.ports.client}`],
        ...['--bind-address', '127.0.0.1', '--secure-port', String(this.ports.api)],
        ...['--advertise-address', publicAddress],
        ...['--cert-dir', join(this.folder, 'certificates'), '--service-cluster-ip-range', '10.0.0.0/16'],
        ...['--authorization-mode', 'RBAC', '--token-auth-file', join(this.folder, 'tokens.csv')],
        ...['--service-account-issuer', 'https://kubernetes.default.svc'],
        ...['--service-account-key-file', key, '--service-account-signing-key-file', key],
        ...['--audit-policy-file', join(this.folder, 'audit-policy.yaml'), '--audit-log-path', this.auditLog],
        ...['--disable-admission-plugins', 'ServiceAccount', '--profiling=false'],
        ...['--shutdown-delay-duration', '0s', '--shutdown-watch-termination-grace-period', '0s'],
        // For which it also waits before it ends while a watch is open.
        ...['--request-timeout', '15s'],
        ...more,
      ],
      join(this.folder, 'kube-apiserver.log'),
    );
  }

  private async ready(): Promise<void> {
    await eventually(
      'the API server',
      async () => {
        // Gone at once means a flag or a port is wrong: say so instead of waiting.
        if (this.server?.exitCode != null) throw new Error(`kube-apiserver ended, see ${this.folder}`);
        const response = await this.admin.open({
          method: 'GET',
          path: '/readyz',
          signal: AbortSignal.timeout(2_000),
        });
        response.resume();
        return response.statusCode === 200;
      },
      180_000,
    );
  }
}

/** Of audit.k8s.io/v1, what is read. */
interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly stageTimestamp: string;
}

function kubeConfig(port: number, user: string, token = tokenOf(user)): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'test', server: `https://127.0.0.1:${port}`, skipTLSVerify: true }],
    users: [{ name: user, token }],
    contexts: [{ name: 'test', cluster: 'test', user }],
    currentContext: 'test',
  });
  return config;
}
