// A cluster in which all is well, as `llmservice doctor` checks it: a real API server with the operator's chart in it, an
// operator at work, the published CRDs of the Gateway API, and a service that is ready.

import { expect } from '@jest/globals';
import { fieldManager, labels } from '@llmservice/crds';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { Commands } from './command.js';
import { Kubectl } from './kubectl.js';
import { renderChart } from './operator-role.js';
import { World } from './operator-world.js';
import { installRouteCrds } from './published-crds.js';

interface Report {
  readonly exitCode: number;
  readonly findings: {
    readonly check: string;
    readonly level: string;
    readonly message: string;
    readonly remedy: string | null;
  }[];
}

const gateway = (kind: string, name: string, spec: object): object => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind,
  metadata: { name, ...(kind === 'Gateway' ? { namespace: 'gateways' } : {}) },
  spec,
});
const conditions = (...types: string[]): string =>
  JSON.stringify({
    status: {
      conditions: types.map((type) => ({
        ...{ type, status: 'True', reason: type, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      })),
    },
  });

export class ExaminedCluster {
  private constructor(
    readonly world: World,
    readonly kubectl: Kubectl,
    readonly commands: Commands,
  ) {}

  static async start(): Promise<ExaminedCluster> {
    const world = await World.start();
    const kubectl = new Kubectl(world.api.kubeConfig());
    const cluster = new ExaminedCluster(world, kubectl, new Commands(world.api));
    await installRouteCrds(kubectl);
    const set = 'crd.install=false,instance=op,gateway.name=public,gateway.namespace=gateways';
    await cluster.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'gateways' } },
      ...renderChart('op', '--set', set),
      gateway('GatewayClass', 'envoy', { controllerName: 'example.org/envoy' }),
    );
    await cluster.patchStatus(['gatewayclass', 'envoy'], conditions('Accepted'));
    await cluster.makeGateway();
    await cluster.operatorPods(2);
    await cluster.deploymentPods('op-activator', 2);
    await cluster.makeLeader();
    world.startOperator({ instance: 'op' });
    world.s3.put('models', 'llama', llamaCheckpoint());
    await world.createService('well', {
      model: world.model('models/llama/'),
      resources: { limits: { memory: '1Gi' } },
    });
    await world.deployment('well');
    await world.makePod('well', 'well-1');
    await world.podServes('well-1');
    await world.condition('well', 'Ready', 'True');
    return cluster;
  }

  async stop(): Promise<void> {
    this.commands.close();
    await this.world.stop();
  }

  async apply(...objects: object[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await this.kubectl.output(['apply', '--server-side', '-f', '-'], list);
  }

  async makeGateway(): Promise<void> {
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }];
    await this.apply(gateway('Gateway', 'public', { gatewayClassName: 'envoy', listeners }));
    await this.patchStatus(['gateway', 'public', '-n', 'gateways'], conditions('Accepted', 'Programmed'));
  }

  /** The pod that the operator at work says that it is. */
  makeLeader(): Promise<void> {
    return this.apply({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: {
        ...{ name: 'operator-0', namespace: 'default' },
        labels: { [labels.name]: fieldManager, [labels.instance]: 'op' },
      },
      spec: { containers: [{ name: 'operator', image: 'example.org/operator:1' }] },
    });
  }

  operatorPods(ready: number): Promise<void> {
    return this.deploymentPods('op', ready);
  }

  /** What doctor found, and its exit status. */
  async report(...args: string[]): Promise<{ code: number | null; lines: string[] }> {
    const { code, stdout, stderr } = await this.commands.llmservice(['doctor', ...args, '-o', 'json']);
    expect(stderr).toBe('');
    const { exitCode, findings } = JSON.parse(stdout) as Report;
    expect(exitCode).toBe(code);
    return {
      code,
      lines: findings.map(({ level, message, remedy }) => [level, message, remedy ?? ''].join(': ')),
    };
  }

  private deploymentPods(name: string, ready: number): Promise<void> {
    return this.patchStatus(
      ['deployment', name],
      JSON.stringify({ status: { replicas: 2, readyReplicas: ready } }),
    );
  }

  private async patchStatus(of: readonly string[], patch: string): Promise<void> {
    await this.kubectl.output(['patch', ...of, '--subresource', 'status', '--type', 'merge', '-p', patch]);
  }
}
