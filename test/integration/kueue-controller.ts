// Kueue itself beside a test's API server: its controller with the integrations of pods and Deployments, its resource
// definitions and webhooks as its module has them. Only outside CI: its build takes minutes.

import type { ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { eventually, freePort, start, stop, toolFolders } from '../processes.js';
import type { ApiServer } from './api-server.js';
import { Kubectl } from './kubectl.js';
import { listensForTls, registerWebhooks, webhookServer } from './webhooks.js';

const kinds = ['workloads', 'clusterqueues', 'localqueues', 'resourceflavors', 'workloadpriorityclasses'];
const more = ['admissionchecks', 'cohorts', 'topologies', 'provisioningrequestconfigs'];
const multi = ['multikueueclusters', 'multikueueconfigs'];
const group = 'kueue.x-k8s.io';
const apiVersion = `${group}/v1beta2`;

export class KueueController {
  private constructor(
    private readonly api: ApiServer,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(api: ApiServer): Promise<KueueController> {
    const [bin = ''] = toolFolders('kueue');
    const components = join(bin, '../config/components');
    const kubectl = new Kubectl(api.kubeConfig());
    for (const kind of [...kinds, ...more, ...multi]) {
      const text = readFileSync(join(components, 'crd/bases', `${group}_${kind}.yaml`), 'utf8');
      await kubectl.output(['apply', '--server-side', '-f', '-'], text);
    }
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-kueue-'));
    const server = webhookServer('kueue', await freePort());
    const files = {
      'tls.crt': server.cert,
      'tls.key': server.key,
      kubeconfig: api.kubeConfig().exportConfig(),
      config: JSON.stringify(configuration(folder, server.port, await freePort())),
    };
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    const certificates = join(folder, 'etc/kueue/metrics/certs');
    mkdirSync(certificates, { recursive: true });
    for (const name of ['tls.crt', 'tls.key']) copyFileSync(join(folder, name), join(certificates, name));
    const program = join(bin, 'kueue');
    const args = ['--config', join(folder, 'config'), '--kubeconfig', join(folder, 'kubeconfig'), ...off];
    const child = start('unshare', [...withEtc(folder), program, ...args], join(folder, 'kueue.log'));
    const kueue = new KueueController(api, folder, child);
    await eventually('its webhooks', () => kueue.listens(server.port), 120_000);
    const text = readFileSync(join(components, 'webhook/manifests.yaml'), 'utf8');
    const known = new Set([...kinds, 'pods', 'deployments']);
    for (const each of parseAllDocuments(text))
      await registerWebhooks(api, each.toJS() as KubeObject, server, known);
    return kueue;
  }

  /** A LocalQueue of the namespace `default`, with so many of amd.com/gpu. */
  async makeQueue(name: string, devices: number): Promise<void> {
    await this.create('resourceflavors', { metadata: { name: 'plain' } });
    const resources = Object.entries({
      ...{ cpu: '64', memory: '1Ti', 'ephemeral-storage': '10Ti' },
      'amd.com/gpu': String(devices),
    }).map(([resource, nominalQuota]) => ({ name: resource, nominalQuota }));
    const resourceGroups = [
      { coveredResources: resources.map((each) => each.name), flavors: [{ name: 'plain', resources }] },
    ];
    const spec = { namespaceSelector: {}, resourceGroups };
    await this.create('clusterqueues', { metadata: { name: 'all' }, spec });
    await this.create('namespaces/default/localqueues', {
      metadata: { name },
      spec: { clusterQueue: 'all' },
    });
  }

  log(): string {
    return readFileSync(join(this.folder, 'kueue.log'), 'utf8');
  }

  async stop(): Promise<void> {
    await stop(this.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private create(path: string, object: object): Promise<unknown> {
    const plural = path.split('/').at(-1) ?? '';
    const kind = { resourceflavors: 'ResourceFlavor', clusterqueues: 'ClusterQueue' }[plural] ?? 'LocalQueue';
    const body = { apiVersion, kind, ...object };
    return this.api.admin.request({ method: 'POST', path: `/apis/${apiVersion}/${path}`, body });
  }

  private listens(port: number): Promise<true> {
    if (this.child.exitCode !== null) throw new Error(`kueue ended: ${this.log().slice(-2_000)}`);
    return listensForTls(port);
  }
}

/** An API of its own for its queues, which wants a certificate and an aggregation layer. */
const off = ['--feature-gates', 'VisibilityOnDemand=false'];

/** It looks for the certificate of its metrics in a folder of /etc, whatever its configuration: it gets an /etc of its own. */
function withEtc(folder: string): string[] {
  const mounted = 'mount -t overlay overlay -o lowerdir="$0/etc":/etc /etc && exec "$@"';
  return ['--mount', 'sh', '-c', mounted, folder];
}

function configuration(certDir: string, port: number, healthPort: number): object {
  return {
    ...{ apiVersion: 'config.kueue.x-k8s.io/v1beta2', kind: 'Configuration' },
    health: { healthProbeBindAddress: `127.0.0.1:${String(healthPort)}` },
    metrics: { bindAddress: '0' },
    webhook: { host: '127.0.0.1', port, certDir },
    leaderElection: { leaderElect: false },
    internalCertManagement: { enable: false },
    integrations: { frameworks: ['pod', 'deployment'] },
  };
}
