// The API custom.metrics.k8s.io as an adapter serves it, behind a test's API server, and the real controller of
// HorizontalPodAutoscalers that asks it. A test sets what every pod is said to have.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resources } from '../../operator/src/kube/resources.js';
import { Authority } from '../builders/certificates.js';
import { start, stop, toolFolders } from '../processes.js';
import type { TestCluster } from './test-cluster.js';

const group = 'custom.metrics.k8s.io';
const groupVersion = `${group}/v1beta2`;

export class CustomMetrics {
  /** By the metric's name: each pod's value, as a quantity. Others are not known. */
  values: Readonly<Record<string, string>> = {};

  private constructor(
    private readonly cluster: TestCluster,
    private readonly server: Server,
    private readonly folder: string,
  ) {}

  private controller: ChildProcess | null = null;

  static async start(cluster: TestCluster): Promise<CustomMetrics> {
    const authority = new Authority('metrics');
    const server = createServer(authority.issue('localhost')).listen(0, '127.0.0.1');
    authority.remove();
    await once(server, 'listening');
    const metrics = new CustomMetrics(cluster, server, mkdtempSync(join(tmpdir(), 'llmservice-metrics-')));
    server.on('request', (request, response) => {
      void metrics.answer(new URL(request.url ?? '', 'https://localhost')).then((body) => {
        response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body ?? notFound));
      });
    });
    await metrics.register();
    metrics.runController();
    return metrics;
  }

  async stop(): Promise<void> {
    if (this.controller !== null) await stop(this.controller, 'SIGKILL');
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Takes the API away, as one does who removes the adapter. */
  async unregister(): Promise<void> {
    await this.cluster.request('DELETE', `/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.${group}`);
  }

  private async register(): Promise<void> {
    const { port } = this.server.address() as AddressInfo;
    await this.cluster.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'metrics', namespace: 'default' },
      spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
    });
    await this.cluster.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1beta2.${group}` },
      spec: {
        group,
        version: 'v1beta2',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { name: 'metrics', namespace: 'default', port },
      },
    });
  }

  private runController(): void {
    const [kubernetes = ''] = toolFolders('kubernetes');
    const kubeconfig = join(this.folder, 'kubeconfig');
    writeFileSync(kubeconfig, this.cluster.api.kubeConfig().exportConfig(), { mode: 0o600 });
    this.controller = start(
      join(kubernetes, 'kube-controller-manager'),
      [
        ...['--kubeconfig', kubeconfig, '--leader-elect=false', '--secure-port', '0'],
        ...['--controllers', 'horizontal-pod-autoscaler-controller,clusterrole-aggregation-controller'],
        ...['--horizontal-pod-autoscaler-sync-period', '1s'],
      ],
      join(this.folder, 'kube-controller-manager.log'),
    );
  }

  private async answer({ pathname, searchParams }: URL): Promise<object | null> {
    if (pathname === `/apis/${groupVersion}`) return discovery;
    const [, namespace = '', metric = ''] =
      new RegExp(`^/apis/${groupVersion}/namespaces/([^/]+)/pods/\\*/(.+)$`).exec(
        decodeURIComponent(pathname),
      ) ?? [];
    const value = this.values[metric];
    if (value === undefined) return null;
    const pods = await this.cluster.list(resources.pods, searchParams.get('labelSelector') ?? '');
    return {
      kind: 'MetricValueList',
      apiVersion: groupVersion,
      metadata: {},
      items: pods.map(({ metadata: { name } }) => ({
        describedObject: { kind: 'Pod', namespace, name, apiVersion: '/v1' },
        metric: { name: metric },
        timestamp: new Date().toISOString(),
        value,
      })),
    };
  }
}

const discovery = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: [
    { name: 'pods/*', singularName: '', namespaced: true, kind: 'MetricValueList', verbs: ['get'] },
  ],
};
const notFound = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
