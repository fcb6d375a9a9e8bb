// What a fleet has beside plain services, on a cluster whose gateway is played: services whose changes are canaries, services
// behind InferencePools, services of a class, and gateways of models. Each asks the operator for objects and looks that plain
// services do not.

import type { LlmServiceStatus } from '@llmservice/crds';
import { collectionPath, resources, type Resource } from '../../../operator/src/kube/resources.js';
import type { HttpRoute, KubeObject } from '../../../operator/src/kube/types.js';
import { llmService } from '../../builders/llm-service.js';
import { Kubectl } from '../../integration/kubectl.js';
import { renderChart } from '../../integration/operator-role.js';
import type { World } from '../../integration/operator-world.js';
import { installInferencePoolCrd, installRouteCrds } from '../../integration/published-crds.js';

export interface Parts {
  readonly services: number;
  readonly canaries: number;
  readonly pools: number;
  readonly classed: number;
  readonly gateways: number;
}

type Condition = readonly [type: string, status: string, reason?: string];
const { httpRoutes, llmGateways, llmServiceClasses, llmServices } = resources;
const className = 'platform';
const rolePath = '/apis/rbac.authorization.k8s.io/v1/clusterroles/llmservice-operator';

export class MixedFleet {
  /** What an operator of this fleet is installed with. */
  readonly environment = {
    GATEWAY_NAME: 'public',
    GATEWAY_NAMESPACE: 'gateways',
    ENDPOINT_PICKER_IMAGE: 'example.org/picker:1',
    OPERATOR_IMAGE: 'example.org/operator:1',
  };
  private readonly playing: NodeJS.Timeout;
  private accepting = false;

  private constructor(
    private readonly world: World,
    private readonly parts: Parts,
  ) {
    this.playing = setInterval(() => void this.acceptRoutes(), 1_000);
  }

  /** With the definitions that such a fleet needs, and the rights of its operator's chart. */
  static async prepare(world: World, parts: Parts): Promise<MixedFleet> {
    const kubectl = new Kubectl(world.api.kubeConfig());
    await installRouteCrds(kubectl);
    await installInferencePoolCrd(kubectl);
    await kubectl.installCrd('llmgateways');
    await kubectl.installCrd('llmserviceclasses');
    const fleet = new MixedFleet(world, parts);
    const { GATEWAY_NAME, GATEWAY_NAMESPACE, ENDPOINT_PICKER_IMAGE } = fleet.environment;
    const settings = [
      `gateway.name=${GATEWAY_NAME},gateway.namespace=${GATEWAY_NAMESPACE}`,
      `endpointPicker.image=${ENDPOINT_PICKER_IMAGE}`,
    ].join();
    const rendered = renderChart(
      'llmservice-operator',
      ...['--set', settings, '--show-only', 'templates/rbac.yaml'],
    );
    const rules = rendered.find(({ kind }) => kind === 'ClusterRole')?.['rules'];
    await world.request('PATCH', rolePath, { rules }, 'application/merge-patch+json');
    return fleet;
  }

  stop(): void {
    clearInterval(this.playing);
  }

  /** What services of the class leave to it. */
  createClass(defaults: object): Promise<unknown> {
    const { apiVersion, kind } = llmServiceClasses;
    const bounds = { maxReplicas: 2 };
    const path = collectionPath(llmServiceClasses, null);
    const metadata = { name: className };
    return this.world.request('POST', path, { apiVersion, kind, metadata, spec: { defaults, bounds } });
  }

  /** The first are canaries, those after them have pools, then come those of the class; all are divided between the gateways. */
  createService(index: number, model: { readonly uri: string }, accelerator: object): Promise<unknown> {
    const name = nameOf(index);
    const { gateways } = this.parts;
    const labels = gateways === 0 ? {} : { fleet: String(index % gateways) };
    const object = llmService(name, { model, ...this.specOf(index, accelerator) });
    return this.world.create({ ...object, metadata: { ...object.metadata, labels } });
  }

  private specOf(index: number, accelerator: object): object {
    const { canaries, pools, classed } = this.parts;
    const host = `${nameOf(index)}.example.org`;
    if (index < canaries) return { accelerator, routing: { host }, canary: { steps: [{ weight: 50 }] } };
    const afterCanaries = index - canaries;
    if (afterCanaries < pools) return { accelerator, routing: { host, backend: 'inferencePool' } };
    return afterCanaries - pools < classed ? { className } : { accelerator };
  }

  createGateway(index: number): Promise<unknown> {
    const { apiVersion, kind } = llmGateways;
    const name = `models-${String(index)}`;
    return this.world.create({
      ...{ apiVersion, kind, metadata: { name, namespace: 'default' } },
      spec: {
        serviceSelector: { matchLabels: { fleet: String(index) } },
        routing: { host: `${name}.example.org` },
      },
    });
  }

  /** Changes each service that tries changes: its canary then gets half of the requests until somebody promotes it. */
  changeCanary(index: number): Promise<unknown> {
    return this.world.patch(llmServices, nameOf(index), { spec: { engine: { maxNumSeqs: 5 } } });
  }

  /** How many services have this condition. */
  servicesThat(condition: Condition): Promise<number> {
    return this.count(llmServices, condition);
  }

  gatewaysThat(condition: Condition): Promise<number> {
    return this.count(llmGateways, condition);
  }

  private async count(resource: Resource, [type, status, reason]: Condition): Promise<number> {
    let found = 0;
    for await (const object of this.world.api.admin.list<KubeObject>(collectionPath(resource, 'default'))) {
      const { conditions } = (object['status'] ?? {}) as LlmServiceStatus;
      const isSo = conditions?.some(
        (each) => each.type === type && each.status === status && each.reason === (reason ?? each.reason),
      );
      if (isSo === true) found += 1;
    }
    return found;
  }

  /** As the gateway's controller does: each route as it now is. */
  private async acceptRoutes(): Promise<void> {
    if (this.accepting) return;
    this.accepting = true;
    try {
      const path = collectionPath(httpRoutes, 'default');
      for await (const route of this.world.api.admin.list<HttpRoute>(path)) {
        if (isJudged(route)) continue;
        await this.world.patch(httpRoutes, route.metadata.name, this.acceptance(route), '/status');
      }
    } catch {
      // A route that has gone meanwhile; or the cluster has, at the end.
    } finally {
      this.accepting = false;
    }
  }

  private acceptance({ metadata: { generation = 0 } }: HttpRoute): object {
    const { GATEWAY_NAME: name, GATEWAY_NAMESPACE: namespace } = this.environment;
    const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
      ...{ type, status: 'True', reason: type, message: '', observedGeneration: generation },
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }));
    const parent = { parentRef: { name, namespace }, controllerName: 'example.org/gateway', conditions };
    return { status: { parents: [parent] } };
  }
}

const nameOf = (index: number): string => `service-${String(index)}`;

function isJudged({ metadata: { generation = 0 }, status }: HttpRoute): boolean {
  const [condition] = status?.parents?.[0]?.conditions ?? [];
  return (condition?.observedGeneration ?? -1) >= generation;
}
