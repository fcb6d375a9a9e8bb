// The devices that drivers list, and which of them claims hold: read only when a pod waits for one, a rollout has to make
// room, or weights are pulled ahead. Null where the operator may not read them, or the cluster does not serve them.

import { ApiError, type KubeClient } from '../kube/client.js';
import { collectionPath, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import type { ListedDevice } from '../plan/fit/device-match.js';

/** Many services may wait at once: they share a look. */
const freshMs = 5_000;

interface Slice extends KubeObject {
  readonly spec?: {
    readonly driver: string;
    readonly pool: { readonly name: string; readonly generation?: number };
    readonly nodeName?: string;
    readonly devices?: readonly {
      readonly name: string;
      readonly attributes?: Readonly<Record<string, { readonly string?: string }>>;
    }[];
  };
}

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
      const slices: Slice[] = [];
      for await (const slice of this.client.list<Slice>(collectionPath(resources.resourceSlices, null)))
        slices.push(slice);
      return current(slices).flatMap((slice) => devicesOf(slice, holders));
    } catch (error) {
      // A status without them is better than none.
      if (error instanceof ApiError) return null;
      throw error;
    }
  }
}

/** A pool that changes has slices of two generations for a while. */
function current(slices: readonly Slice[]): Slice[] {
  const newest = new Map<string, number>();
  for (const { spec } of slices) {
    const key = poolOf(spec);
    newest.set(key, Math.max(newest.get(key) ?? 0, spec?.pool.generation ?? 0));
  }
  return slices.filter(({ spec }) => (spec?.pool.generation ?? 0) === newest.get(poolOf(spec)));
}

function poolOf(spec: Slice['spec']): string {
  return `${spec?.driver ?? ''}/${spec?.pool.name ?? ''}`;
}

function devicesOf({ spec }: Slice, holders: ReadonlyMap<string, string[]>): ListedDevice[] {
  if (spec === undefined) return [];
  const { driver, nodeName } = spec;
  return (spec.devices ?? []).map(({ name, attributes = {} }) => ({
    driver,
    node: nodeName ?? null,
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([key, { string = '' }]) => [key.replace(`${driver}/`, ''), string]),
    ),
    holders: holders.get(`${poolOf(spec)}/${name}`) ?? null,
  }));
}
