// Devices that drivers list, written as a driver would: the scheduler allocates them by ResourceClaims, and no node has them
// as an extended resource.

import { collectionPath, resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import type { FakeNodes } from './fake-nodes.js';
import type { World } from './operator-world.js';

const apiVersion = 'resource.k8s.io/v1';
const driver = 'gpu.amd.com';

/** As AMD's driver names them in its ResourceSlices. */
const kinds = {
  whole: { type: 'amdgpu', partitionProfile: 'spx_nps1' },
  partition: { type: 'amdgpu-partition', partitionProfile: 'cpx_nps4' },
};

interface Allocated extends KubeObject {
  readonly status?: {
    readonly allocation?: {
      readonly devices?: { readonly results?: readonly { readonly device: string }[] };
    };
  };
}

export class ClaimedDevices {
  constructor(
    private readonly world: World,
    private readonly nodes: FakeNodes,
  ) {}

  /** What the driver's chart brings. */
  async installDriver(): Promise<void> {
    const selectors = [{ cel: { expression: `device.driver == '${driver}'` } }];
    await this.world.request('POST', `/apis/${apiVersion}/deviceclasses`, {
      ...{ apiVersion, kind: 'DeviceClass', metadata: { name: driver }, spec: { selectors } },
    });
  }

  /** A node of a pool with an MI300X in one piece and partitions of another. */
  async addNode(name: string, pool: string, partitions: number): Promise<void> {
    await this.nodes.add(name, pool, 0);
    const list = ['whole' as const, ...Array.from({ length: partitions }, () => 'partition' as const)];
    const devices = list.map((kind, index) => ({
      name: `${kind}-${String(index)}`,
      attributes: {
        productName: { string: 'AMD Instinct MI300X OAM' },
        ...Object.fromEntries(Object.entries(kinds[kind]).map(([key, string]) => [key, { string }])),
      },
      capacity: { memory: { value: kind === 'whole' ? '192Gi' : '24574Mi' } },
    }));
    const poolOfDevices = { name, generation: 1, resourceSliceCount: 1 };
    await this.world.request('POST', collectionPath(resources.resourceSlices, null), {
      ...{ apiVersion, kind: 'ResourceSlice', metadata: { name: `${name}-${driver}` } },
      spec: { driver, nodeName: name, pool: poolOfDevices, devices },
    });
  }

  /** Of the partitions, from the owner's own template. */
  async makeTemplate(name: string, count: number): Promise<void> {
    const exactly = {
      ...{ deviceClassName: driver, allocationMode: 'ExactCount', count },
      selectors: [{ cel: { expression: `device.attributes['${driver}'].type == 'amdgpu-partition'` } }],
    };
    await this.world.create({
      ...{ apiVersion, kind: 'ResourceClaimTemplate', metadata: { name, namespace: 'default' } },
      spec: { spec: { devices: { requests: [{ name: 'gpus', exactly }] } } },
    });
  }

  /** Names of the devices that claims of the service's pods hold. */
  async heldBy(service: string): Promise<string[]> {
    const { items } = await this.world.api.admin.get<{ items: readonly Allocated[] }>(
      collectionPath(resources.resourceClaims, 'default'),
    );
    const own = items.filter(({ metadata }) => metadata.name.startsWith(`${service}-`));
    const held = own.flatMap(({ status }) => status?.allocation?.devices?.results ?? []);
    return held.map(({ device }) => device).sort();
  }

  /** Templates of claims that the operator keeps for a service. */
  async templatesOf(service: string): Promise<string[]> {
    const list = await this.world.list(resources.claimTemplates, `llmservice.dev/service=${service}`);
    return list.map(({ metadata }) => metadata.name);
  }
}
