// The devices that drivers list, and which of them claims hold: read only when a pod waits for one, a rollout has to make
// room, or weights are pulled ahead. Null where the operator may not read them, or the cluster does not serve them.

import { ApiError, type KubeClient } from '../kube/client.js';
import { newestSlices, poolKey, type ResourceSlice, type SliceSpec } from '../kube/resource-slices.js';
import { collectionPath, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import type { ListedDevice } from '../plan/fit/device-match.js';

/** Many services may wait at once: they share a look. */
const freshMs = 5_000;

interface Claim extends KubeObject {
  readonly status?: {
    readonly reservedFor?: readonly { readonly uid: string }[];
    readonly allocation?: {
      readonly devices?: {
        readonly results?: readonly {
          readonly driver: string;
          readonly pool: string;
          readonly device: string;
          /** It takes nothing from others. */
          readonly adminAccess?: boolean;
        }[];
      };
    };
  };
}

type Devices = readonly ListedDevice[] | null;

export class DeviceRoom {
  private latest: { readonly at: number; readonly devices: Promise<Devices> } | null = null;

  constructor(
    private readonly client: Pick<KubeClient, 'list'>,
    /** Milliseconds that never run backwards. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  look(): Promise<Devices> {
    const at = this.now();
    if (this.latest === null || at - this.latest.at >= freshMs) this.latest = { at, devices: this.read() };
    return this.latest.devices;
  }

  private async read(): Promise<Devices> {
    try {
      const holders = new Map<string, string[]>();
      for await (const { status } of this.client.list<Claim>(collectionPath(resources.resourceClaims, null)))
        for (const { driver, pool, device, adminAccess } of status?.allocation?.devices?.results ?? []) {
          if (adminAccess === true) continue;
          const key = `${driver}/${pool}/${device}`;
          const uids = (status?.reservedFor ?? []).map(({ uid }) => uid);
          holders.set(key, [...(holders.get(key) ?? []), ...uids]);
        }
      const slices: ResourceSlice[] = [];
      for await (const slice of this.client.list<ResourceSlice>(
        collectionPath(resources.resourceSlices, null),
      ))
        slices.push(slice);
      return [...newestSlices(slices).values()].flat().flatMap((slice) => devicesOf(slice, holders));
    } catch (error) {
      // A status without them is better than none.
      if (error instanceof ApiError) return null;
      throw error;
    }
  }
}

function devicesOf(spec: SliceSpec, holders: ReadonlyMap<string, string[]>): ListedDevice[] {
  const { driver, nodeName } = spec;
  return (spec.devices ?? []).map(({ name, attributes = {} }) => ({
    driver,
    node: nodeName ?? null,
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([key, { string = '' }]) => [key.replace(`${driver}/`, ''), string]),
    ),
    holders: holders.get(`${poolKey(spec)}/${name}`) ?? null,
  }));
}
