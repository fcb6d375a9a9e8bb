// Two teams on one cluster whose operator runs as the chart installs it, and the endpoints of a team that listens to what it
// is sent. Teams apply and edit services by their own accounts.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { expect } from '@jest/globals';
import type { Condition, LlmServiceStatus } from '@llmservice/crds';
import { collectionPath, objectPath, resources, type Resource } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { eventually } from '../processes.js';
import { World } from '../integration/operator-world.js';
import { system, Tenants } from '../integration/tenants.js';

export type Team = 'team-a' | 'team-b';
const limits = { resources: { limits: { memory: '1Gi' } } };

export class TwoTeams {
  private readonly servers: Server[] = [];

  private constructor(
    readonly world: World,
    readonly tenants: Tenants,
  ) {}

  static async start(): Promise<TwoTeams> {
    const world = await World.start();
    const tenants = await Tenants.install(world);
    world.s3.put('models', 'llama', llamaCheckpoint());
    await makePublicNetwork(world);
    world.startOperator(
      {
        leaseNamespace: system,
        capabilities: {
          limits: {
            images: [],
            serviceAccounts: ['team-b/*'],
            routeHosts: [
              { namespace: 'team-*', host: '*.example.org' },
              { namespace: 'team-b', host: 'b.example.net' },
            ],
          },
        },
      },
      tenants.clients.operator,
    );
    return new TwoTeams(world, tenants);
  }

  async stop(): Promise<void> {
    for (const server of this.servers) server.close();
    await this.world.stop();
    this.tenants.stop();
  }

  path(team: Team, name: string, resource: Resource = resources.llmServices): string {
    return objectPath(resource, team, name);
  }

  /** By the tenant's own account. */
  async apply(team: Team, name: string, spec: object): Promise<void> {
    const object = llmService(
      name,
      { model: this.world.model('models/llama/'), ...limits, ...spec },
      { namespace: team },
    );
    const request = {
      method: 'POST',
      path: collectionPath(resources.llmServices, team),
      body: object,
    } as const;
    await this.tenants.clients[team].request(request);
  }

  edit(team: Team, name: string, spec: object): Promise<unknown> {
    return this.tenants.clients[team].request({
      method: 'PATCH',
      path: this.path(team, name),
      body: { spec },
      contentType: 'application/merge-patch+json',
    });
  }

  found(team: Team, name: string, resource: Resource): Promise<KubeObject | null> {
    return this.world.api.admin.find<KubeObject>(this.path(team, name, resource));
  }

  async statusOf(team: Team, name: string): Promise<LlmServiceStatus> {
    return (await this.found(team, name, resources.llmServices))?.['status'] ?? {};
  }

  condition(team: Team, name: string, type: string, reason: string): Promise<Condition> {
    return eventually(`${team}/${name}: ${type} ${reason}`, async () => {
      const { conditions } = await this.statusOf(team, name);
      const condition = conditions?.find((each) => each.type === type);
      if (condition?.reason === reason) return condition;
      throw new Error(JSON.stringify(conditions));
    });
  }

  /** No pod of it was ever wanted. */
  async expectNothingMade(team: Team, name: string): Promise<void> {
    expect(await this.found(team, name, resources.deployments)).toBeNull();
  }

  /** An endpoint of the tenant's, and what it was sent. */
  async honeypot(
    address = '127.0.0.1',
    location?: string,
    [code, body] = [418, 'WORDS OF AN INTERNAL SERVICE'] as [number, string],
  ): Promise<{ readonly url: string; readonly heard: IncomingMessage[] }> {
    const heard: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      heard.push(request);
      if (location === undefined)
        response.writeHead(code, { 'content-length': Buffer.byteLength(body) }).end(body);
      else response.writeHead(307, { location }).end();
    }).listen(0, address);
    this.servers.push(server);
    await once(server, 'listening');
    return { url: `http://${address}:${String((server.address() as { port: number }).port)}`, heard };
  }

  async makeSecret(team: Team, name: string, data: object, labels: object = {}): Promise<void> {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: team, labels },
      stringData: data,
    };
    await this.world.create(secret);
  }
}

/** Of Services, of a node and of its pods, as clusters have them that are numbered by ranges of the internet. */
async function makePublicNetwork(world: World): Promise<void> {
  await world.request('POST', '/apis/networking.k8s.io/v1/servicecidrs', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'public' },
    spec: { cidrs: ['11.0.0.0/24'] },
  });
  await world.request('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'public' },
    spec: { podCIDR: '11.1.0.0/24', podCIDRs: ['11.1.0.0/24'] },
    status: { addresses: [{ type: 'ExternalIP', address: '11.2.0.7' }] },
  });
}
