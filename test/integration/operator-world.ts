// A test's cluster with an S3 server and operators in this process, as a user of LlmServices sees them.

import { labels, type Condition, type LlmServiceStatus } from '@llmservice/crds';
import { KubeClient } from '../../operator/src/kube/client.js';
import { collectionPath, resources, type Resource } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { createOperatorLogger } from '../../operator/src/log.js';
import { Metrics } from '../../operator/src/metrics.js';
import { Operator, type OperatorParts } from '../../operator/src/operator.js';
import { parseNamespaces, type OperatorOptions } from '../../operator/src/options.js';
import type { Installation } from '../../operator/src/plan/plan-service.js';
import { httpRouteCrd } from '../builders/http-route-crd.js';
import { llmService } from '../builders/llm-service.js';
import { eventually } from '../processes.js';
import type { Certificate } from '../builders/certificates.js';
import { ApiServer } from './api-server.js';
import { Kubectl } from './kubectl.js';
import { grantOperatorRole } from './operator-role.js';
import { S3Server, s3Keys } from './s3-server.js';
import { TestCluster } from './test-cluster.js';

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** What the operators of tests are installed with, unless they say otherwise. */
const installation: Installation = {
  images: { cpu: 'example.org/runtime:1', cuda: null, hip: null },
  vllmImages: { cpu: 'example.org/vllm:1', cuda: null, hip: null },
  operatorImage: 'example.org/operator:1',
  gateway: { name: 'public', namespace: 'gateways' },
  istioGateway: null,
  endpointPickerImage: null,
  allowedHostPaths: ['/var/cache/models'],
  limits: { images: ['example.org/*'], serviceAccounts: [], routeHosts: [] },
  prometheusUrl: null,
};

interface Change
  extends
    Partial<Omit<OperatorOptions, 'capabilities' | 'watchNamespaces'>>,
    Pick<OperatorParts, 'podBaseUrl' | 'timing' | 'clock'> {
  readonly capabilities?: Partial<Installation>;
  /** As the flag has it: `a,b`; null: all. */
  readonly watchNamespace?: string | null;
}

export interface RunningOperator {
  readonly operator: Operator;
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>;
  /** How its run ended, once it did. */
  readonly ended: Promise<Error | null>;
}

export class World extends TestCluster {
  private readonly running: RunningOperator[] = [];

  private constructor(
    api: ApiServer,
    readonly s3: S3Server,
  ) {
    super(api);
  }

  /** @param namespaced whether operators are given `default` alone, instead of all namespaces */
  static async start(namespaced = false): Promise<World> {
    const [api, s3] = await Promise.all([ApiServer.start(), S3Server.start()]);
    const world = new World(api, s3);
    const kubectl = new Kubectl(api.kubeConfig());
    await kubectl.installCrd();
    await world.served(resources.llmServices);
    await world.installGatewayApi();
    // The kube-controller-manager would make it; this cluster has none.
    await eventually('the default namespace', () => api.admin.find('/api/v1/namespaces/default'));
    await grantOperatorRole(world, namespaced ? 'default' : null);
    await world.makeCredentials('default');
    return world;
  }

  /** The Secret that `model` names. */
  async makeCredentials(namespace: string): Promise<void> {
    await this.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's3', namespace, labels: { [labels.secretFor]: 's3' } },
      stringData: { AWS_ACCESS_KEY_ID: s3Keys.accessKeyId, AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey },
    });
  }

  /** A Secret of a certificate that services may name. */
  async makeCertificateSecret(name: string, { cert, key }: Certificate): Promise<void> {
    await this.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'default', labels: { [labels.secretFor]: 'tls' } },
      stringData: { 'tls.crt': cert, 'tls.key': key },
    });
  }

  async installGatewayApi(): Promise<void> {
    await this.request('POST', crdPath, httpRouteCrd);
    await this.served(resources.httpRoutes);
  }

  async removeGatewayApi(): Promise<void> {
    await this.request('DELETE', `${crdPath}/${httpRouteCrd.metadata.name}`);
  }

  private async served(resource: Resource): Promise<void> {
    const path = collectionPath(resource, 'default');
    await eventually(resource.plural, () => this.api.admin.get(path).catch(() => null));
  }

  async stop(): Promise<void> {
    for (const operator of this.running) await operator.stop();
    await this.s3.stop();
    await this.api.stop();
  }

  startOperator(change: Change = {}, client?: KubeClient): RunningOperator {
    const { podBaseUrl, timing, clock, capabilities, watchNamespace = null, ...options } = change;
    const stop = new AbortController();
    const operator = new Operator({
      client: client ?? new KubeClient(this.api.kubeConfig('operator')),
      logger: createOperatorLogger(process.env['OPERATOR_LOG'] === undefined ? null : 'debug'),
      metrics: (depth) => new Metrics(depth),
      options: {
        watchNamespaces: parseNamespaces(watchNamespace),
        leaseNamespace: 'default',
        instance: null,
        identity: `operator-${this.running.length}`,
        capabilities: { ...installation, ...capabilities },
        endpoints: { allowed: ['127.0.0.1'], refused: [] },
        publicAddress: null,
        activatorTls: false,
        conversion: null,
        prices: { perHour: new Map(), currency: null },
        concurrency: 4,
        port: 0,
        logLevel: 'debug',
        ...options,
      },
      // No machine is so busy that an operator loses the lease where no test has it lose it.
      timing: { leaseMs: 60_000, renewDeadlineMs: 45_000, retryMs: 300, loadIntervalMs: 200, ...timing },
      ...(podBaseUrl === undefined ? {} : { podBaseUrl }),
      ...(clock === undefined ? {} : { clock }),
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

  createService(...args: Parameters<typeof llmService>): Promise<KubeObject> {
    return this.create(llmService(...args));
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
}
