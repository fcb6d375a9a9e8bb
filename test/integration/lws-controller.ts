// LeaderWorkerSet's own controller beside an API server, a test's or the local cluster's, with its resource definitions and webhooks as its module has
// them. Only outside CI: its build takes minutes.

import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ApiError } from '../../operator/src/kube/api-error.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { eventually, freePort, start, stop, toolFolders } from '../processes.js';
import {
  listensForTls,
  registerWebhooks,
  webhookServer,
  type WebhookCaller,
  type WebhookServer,
} from './webhooks.js';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const bases = ['leaderworkerset.x-k8s.io_leaderworkersets', 'disaggregatedset.x-k8s.io_disaggregatedsets'];

export class LwsController {
  private constructor(
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  /** The API server must not have its definitions. */
  static async start(api: WebhookCaller): Promise<LwsController> {
    const [bin = ''] = toolFolders('lws');
    const config = join(bin, '../config');
    for (const base of bases) {
      const body = parse(readFileSync(join(config, 'crd/bases', `${base}.yaml`), 'utf8')) as KubeObject;
      await api.admin.request({ method: 'POST', path: definitions, body });
    }
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-lws-'));
    const server = webhookServer('lws', await freePort(), api.callsAt);
    const files = {
      'tls.crt': server.cert,
      'tls.key': server.key,
      kubeconfig: api.kubeConfig().exportConfig(),
      config: JSON.stringify(configuration(folder, server, await freePort())),
    };
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    const args = ['--config', join(folder, 'config'), '--kubeconfig', join(folder, 'kubeconfig')];
    const child = start(join(bin, 'cmd'), args, join(folder, 'lws.log'));
    const lws = new LwsController(folder, child);
    await eventually('its webhooks', () => lws.listens(server), 120_000);
    const text = readFileSync(join(config, 'webhook/manifests.yaml'), 'utf8');
    const known = new Set(['leaderworkersets', 'pods']);
    for (const each of parseAllDocuments(text))
      await registerWebhooks(api, each.toJS() as KubeObject, server, known);
    return lws;
  }

  log(): string {
    return readFileSync(join(this.folder, 'lws.log'), 'utf8');
  }

  /** Takes it from an API server that continues: its webhooks would refuse every pod. */
  static async remove({ admin }: WebhookCaller): Promise<void> {
    const names = bases.map((base) => base.split('_').reverse().join('.'));
    const paths = [
      ...['mutating', 'validating'].map(
        (kind) =>
          `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/${kind}-webhook-configuration`,
      ),
      ...names.map((name) => `${definitions}/${name}`),
    ];
    for (const path of paths) {
      await admin.request({ method: 'DELETE', path }).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
      });
    }
  }

  async stop(): Promise<void> {
    await stop(this.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private listens({ port, address }: WebhookServer): Promise<true> {
    if (this.child.exitCode !== null) throw new Error(`lws ended: ${this.log().slice(-2_000)}`);
    return listensForTls(port, address);
  }
}

function configuration(certDir: string, { address, port }: WebhookServer, healthPort: number): object {
  return {
    ...{ apiVersion: 'config.lws.x-k8s.io/v1alpha1', kind: 'Configuration' },
    health: { healthProbeBindAddress: `127.0.0.1:${String(healthPort)}` },
    metrics: { bindAddress: '0' },
    webhook: { host: address, port, certDir },
    leaderElection: { leaderElect: false },
    internalCertManagement: { enable: false },
  };
}
