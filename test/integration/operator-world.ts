// A cluster without nodes, a real S3 server and operators in this process. The test plays the controllers and the
// kubelet: it makes pods from Deployments and writes their status.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadAllYaml } from '@kubernetes/client-node';
import type { Condition, LlmServiceStatus } from '@llmservice/crds';
import { KubeClient, type KubeRequest } from '../../operator/src/kube/client.js';
import {
  collectionPath,
  objectPath,
  resourceOf,
  resources,
  type Resource,
} from '../../operator/src/kube/resources.js';
import type { Deployment, KubeObject, Pod } from '../../operator/src/kube/types.js';
import { createOperatorLogger } from '../../operator/src/log.js';
import { Metrics } from '../../operator/src/metrics.js';
import { Operator, type OperatorParts } from '../../operator/src/operator.js';
import type { OperatorOptions } from '../../operator/src/options.js';
import { httpRouteCrd } from '../builders/http-route-crd.js';
import { llmService } from '../builders/llm-service.js';
import { ApiServer } from './api-server.js';
import { Kubectl } from './kubectl.js';
import { eventually, toolFolders } from '../processes.js';
import { S3Server, s3Keys } from './s3-server.js';

const crds = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
};

export interface RunningOperator {
  readonly operator: Operator;
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>;
  /** How its run ended, once it did. */
  readonly ended: Promise<Error | null>;
}

/** A client that can count and refuse requests, to look at and to disturb an operator. */
export class WatchedClient extends KubeClient {
  readonly writes: string[] = [];
  /** Throws to make a request fail before it is sent. */
  before: (request: KubeRequest) => void = () => undefined;

  override open(request: KubeRequest): ReturnType<KubeClient['open']> {
    this.before(request);
    if (request.method !== 'GET' && !request.path.includes('/leases'))
      this.writes.push(`${request.method} ${request.path}`);
    return super.open(request);
  }
}

export class World {
  private readonly running: RunningOperator[] = [];

  private constructor(
    readonly api: ApiServer,
    readonly s3: S3Server,
  ) {}

  static async start(): Promise<World> {
    const [api, s3] = await Promise.all([ApiServer.start(), S3Server.start()]);
    const world = new World(api, s3);
    const kubectl = new Kubectl(api.kubeConfig());
    await kubectl.installCrd();
    await world.request('POST', `/apis/${crds.apiVersion}/${crds.plural}`, httpRouteCrd);
    for (const each of [resources.llmServices, resources.httpRoutes]) {
      await eventually(each.plural, () => api.admin.get(collectionPath(each, 'default')).catch(() => null));
    }
    // The kube-controller-manager would make it; this cluster has none.
    await eventually('the default namespace', () => api.admin.find('/api/v1/namespaces/default'));
    await world.grantOperatorRole();
    await world.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's3', namespace: 'default' },
      stringData: { AWS_ACCESS_KEY_ID: s3Keys.accessKeyId, AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey },
    });
    return world;
  }

  /** Operators run as the user `operator`, who may what the chart's roles allow and nothing else. */
  private async grantOperatorRole(): Promise<void> {
    const group = '/apis/rbac.authorization.k8s.io/v1';
    const rendered = renderChart('llmservice-operator', 'templates/rbac.yaml');
    for (const object of rendered.filter(({ kind }) => kind.includes('Role'))) {
      const subjects = [{ kind: 'User', name: 'operator', apiGroup: 'rbac.authorization.k8s.io' }];
      const scope = object.kind.startsWith('Cluster') ? '' : '/namespaces/default';
      const body = object.kind.endsWith('Binding') ? { ...object, subjects } : object;
      await this.request('POST', `${group}${scope}/${object.kind.toLowerCase()}s`, body);
    }
  }

  async stop(): Promise<void> {
    for (const operator of this.running) await operator.stop();
    await this.s3.stop();
    await this.api.stop();
  }

  startOperator(
    change: Partial<OperatorOptions> & Pick<OperatorParts, 'podBaseUrl' | 'timing'> = {},
    client?: KubeClient,
  ): RunningOperator {
    const { podBaseUrl, timing, ...options } = change;
    const stop = new AbortController();
    const operator = new Operator({
      client: client ?? new KubeClient(this.api.kubeConfig('operator')),
      logger: createOperatorLogger(process.env['OPERATOR_LOG'] === undefined ? null : 'debug'),
      metrics: (depth) => new Metrics(depth),
      options: {
        watchNamespace: null,
        leaseNamespace: 'default',
        identity: `operator-${this.running.length}`,
        surroundings: {
          images: { cpu: 'example.org/runtime:1', cuda: null, hip: null },
          gateway: { name: 'public', namespace: 'gateways' },
        },
        concurrency: 4,
        port: 0,
        logLevel: 'debug',
        ...options,
      },
      timing: { leaseMs: 6_000, renewDeadlineMs: 4_500, retryMs: 300, loadIntervalMs: 200, ...timing },
      ...(podBaseUrl === undefined ? {} : { podBaseUrl }),
    });
    const ended = operator.run(stop.signal).then(
      () => null,
      (error: unknown) => error as Error,
    );
    const running = {
      operator,
      ended,
      stop: async () => {
        stop.abort();
        await ended;
      },
    };
    this.running.push(running);
    return running;
  }

  /** spec.model for a checkpoint in this world's S3. */
  model(path: string): { uri: string; s3: object } {
    return { uri: `s3://${path}`, s3: { endpoint: this.s3.endpoint, credentialsSecretRef: { name: 's3' } } };
  }

  request<T = KubeObject>(
    method: KubeRequest['method'],
    path: string,
    body?: unknown,
    contentType?: string,
  ): Promise<T> {
    return this.api.admin.request<T>({
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
    });
  }

  create(object: object): Promise<KubeObject> {
    const { metadata, ...rest } = object as KubeObject;
    return this.request('POST', collectionPath(resourceOf(rest), metadata.namespace ?? 'default'), object);
  }

  createService(...args: Parameters<typeof llmService>): Promise<KubeObject> {
    return this.create(llmService(...args));
  }

  get<T extends KubeObject = KubeObject>(resource: Resource, name: string): Promise<T | null> {
    return this.api.admin.find<T>(objectPath(resource, 'default', name));
  }

  patch(resource: Resource, name: string, body: object, subresource = ''): Promise<KubeObject> {
    const path = objectPath(resource, 'default', name) + subresource;
    return this.request('PATCH', path, body, 'application/merge-patch+json');
  }

  delete(resource: Resource, name: string): Promise<KubeObject> {
    return this.request('DELETE', objectPath(resource, 'default', name), {});
  }

  async list(resource: Resource, selector: string): Promise<KubeObject[]> {
    const query = { labelSelector: selector };
    return (await this.api.admin.get<{ items: KubeObject[] }>(collectionPath(resource, 'default'), query))
      .items;
  }

  async status(name: string): Promise<LlmServiceStatus> {
    return (await this.get(resources.llmServices, name))?.['status'] ?? {};
  }

  /** Waits until a condition has this status and, where given, this reason. */
  condition(name: string, type: string, status: string, reason?: string): Promise<Condition> {
    return eventually(`${name}: ${type}=${status} ${reason ?? ''}`, async () => {
      const { conditions } = await this.status(name);
      const found = conditions?.find((each) => each.type === type);
      if (found?.status === status && (reason === undefined || found.reason === reason)) return found;
      throw new Error(JSON.stringify(conditions));
    });
  }

  deployment(name: string): Promise<Deployment> {
    return eventually(`deployment ${name}`, () => this.get<Deployment>(resources.deployments, name));
  }

  /** What the controllers do: a pod from the Deployment's template. */
  async makePod(service: string, podName: string): Promise<void> {
    const { spec } = (await this.deployment(service)) as unknown as {
      spec: { template: { metadata: object; spec: object } };
    };
    await this.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...spec.template.metadata, name: podName, namespace: 'default' },
      spec: spec.template.spec,
    });
  }

  setPodStatus(podName: string, status: NonNullable<Pod['status']>): Promise<KubeObject> {
    return this.patch(resources.pods, podName, { status }, '/status');
  }

  /** The kubelet's report of a pod that answers its readiness probe. */
  async podServes(podName: string): Promise<void> {
    await this.setPodStatus(podName, {
      phase: 'Running',
      podIP: '192.0.2.1',
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
      containerStatuses: [runtimeContainerStatus({ ready: true, state: { running: {} } })],
    });
  }

  /** The kubelet's report of a container that ended with a termination message and was started again. */
  async podFailed(podName: string, message: string): Promise<void> {
    await this.setPodStatus(podName, {
      phase: 'Running',
      conditions: [{ type: 'PodScheduled', status: 'True' }],
      containerStatuses: [
        runtimeContainerStatus({
          restartCount: 1,
          state: { running: {} },
          lastState: { terminated: { exitCode: 1, message, finishedAt: '2026-01-01T00:00:00Z' } },
        }),
      ],
    });
  }

  /** The route's controller accepts it. */
  async acceptRoute(name: string): Promise<void> {
    const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
      type,
      status: 'True',
      reason: type,
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }));
    const parents = [
      {
        parentRef: { name: 'public', namespace: 'gateways' },
        controllerName: 'example.org/gateway',
        conditions,
      },
    ];
    await this.patch(resources.httpRoutes, name, { status: { parents } }, '/status');
  }
}

function renderChart(chart: string, template: string): KubeObject[] {
  const [helm = ''] = toolFolders('helm');
  const folder = fileURLToPath(new URL(`../../charts/${chart}`, import.meta.url));
  const args = [
    'template',
    chart,
    folder,
    '--kube-version',
    '1.34.3',
    '--namespace',
    'default',
    '--show-only',
    template,
  ];
  return loadAllYaml(execFileSync(join(helm, 'helm'), args, { encoding: 'utf8' })) as KubeObject[];
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

function runtimeContainerStatus(change: Partial<ContainerStatus>): ContainerStatus {
  const fixed = { image: 'example.org/runtime:1', imageID: '' };
  return { name: 'runtime', ready: false, restartCount: 0, ...fixed, ...change };
}
