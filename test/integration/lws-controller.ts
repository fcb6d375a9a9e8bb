// LeaderWorkerSet's own controller beside a test's API server, with its resource definitions and webhooks as its module has
// them. Only outside CI: its build takes minutes.

import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { eventually, freePort, start, stop, toolFolders } from '../processes.js';
import type { ApiServer } from './api-server.js';
import { Kubectl } from './kubectl.js';
import { listensForTls, registerWebhooks, webhookServer } from './webhooks.js';

const bases = ['leaderworkerset.x-k8s.io_leaderworkersets', 'disaggregatedset.x-k8s.io_disaggregatedsets'];

export class LwsController {
  private constructor(
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(api: ApiServer): Promise<LwsController> {
    const [bin = ''] = toolFolders('lws');
    const config = join(bin, '../config');
    const kubectl = new Kubectl(api.kubeConfig());
    for (const base of bases) {
      const text = readFileSync(join(config, 'crd/bases', `${base}.yaml`), 'utf8');
      await kubectl.output(['apply', '--server-side', '-f', '-'], text);
    }
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-lws-'));
    const server = webhookServer('lws', await freePort());
    const files = {
      'tls.crt': server.cert,
      'tls.key': server.key,
      kubeconfig: api.kubeConfig().exportConfig(),
      config: JSON.stringify(configuration(folder, server.port, await freePort())),
    };
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    const args = ['--config', join(folder, 'config'), '--kubeconfig', join(folder, 'kubeconfig')];
    const child = start(join(bin, 'cmd'), args, join(folder, 'lws.log'));
    const lws = new LwsController(folder, child);
    await eventually('its webhooks', () => lws.listens(server.port), 120_000);
    const text = readFileSync(join(config, 'webhook/manifests.yaml'), 'utf8');
    const known = new Set(['leaderworkersets', 'pods']);
    for (const each of parseAllDocuments(text))
      await registerWebhooks(api, each.toJS() as KubeObject, server, known);
    return lws;
  }

  log(): string {
    return readFileSync(join(this.folder, 'lws.log'), 'utf8');
  }

  async stop(): Promise<void> {
    await stop(this.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private listens(port: number): Promise<true> {
    if (this.child.exitCode !== null) throw new Error(`lws ended: ${this.log().slice(-2_000)}`);
    return listensForTls(port);
  }
}

function configuration(certDir: string, port: number, healthPort: number): object {
  return {
    ...{ apiVersion: 'config.lws.x-k8s.io/v1alpha1', kind: 'Configuration' },
    health: { healthProbeBindAddress: `127.0.0.1:${String(healthPort)}` },
    metrics: { bindAddress: '0' },
    webhook: { host: '127.0.0.1', port, certDir },
    leaderElection: { leaderElect: false },
    internalCertManagement: { enable: false },
  };
}
