// Where the planner reads checkpoints: in folders that its arguments name, else in their buckets, whose credentials are
// found among the manifests, in the cluster where it may be asked, or in the caller's environment.

import { join, relative } from 'node:path';
import { FailureError } from '@llmservice/crds';
import type { CheckpointSource, OpenFolders } from '../preflight/preflight.js';
import { anyEndpoint } from '../preflight/address-guard.js';
import { guardedBy } from '../preflight/cluster-guard.js';
import { Stores } from '../preflight/stores.js';
import type { CheckpointFiles } from '../preflight/read-safetensors.js';
import { ServiceSecrets } from '../preflight/service-secrets.js';
import type { CheckpointLocation, WantedService } from '../domain/wanted-service.js';
import { dockerConfigKey, listTokenKey } from '../resource/store-access.js';
import { objectPath, pluralIn, resources, type Resource } from '../kube/resources.js';
import { FolderFiles } from './folder-files.js';
import type { Manifest } from './read-manifests.js';

/** Gives an object of the API by its path; null where there is none. */
export interface Objects {
  find<T>(path: string): Promise<T | null>;
}

export class CheckpointPlaces implements CheckpointSource {
  private readonly buckets: Stores;

  constructor(
    private readonly folders: ReadonlyMap<string, string>,
    objects: Objects,
  ) {
    this.buckets = new Stores(
      // A person plans with Secrets and endpoints of his own.
      new ServiceSecrets(objects, { use: 'any' }),
      guardedBy(anyEndpoint),
      objects,
    );
  }

  async open(service: WantedService): Promise<OpenFolders> {
    const { namespace, name, checkpoint, head, adapters } = service;
    const folder = this.folders.get(`${namespace}/${name}`) ?? this.folders.get(name) ?? this.folders.get('');
    if (folder === undefined) return this.buckets.open(service);
    // A head from another checkpoint is still in its bucket, and so are adapters.
    const isElsewhere = [head, ...adapters.map(({ location }) => location)].some(
      (location) => location !== null && !('claim' in location),
    );
    const rest = isElsewhere ? await this.buckets.open(service) : null;
    const at = (location: CheckpointLocation): CheckpointFiles => {
      if ('claim' in location && 'claim' in checkpoint)
        // A copy of the claim has the same folders beside each other.
        return new FolderFiles(join(folder, relative(checkpoint.folder, location.folder)));
      return location === checkpoint || rest === null ? new FolderFiles(folder) : rest.at(location);
    };
    return {
      at,
      close: () => rest?.close(),
    };
  }
}

/** Of what services name and the planner reads. */
const kinds: Readonly<Partial<Record<string, Resource>>> = {
  Secret: resources.secrets,
  ConfigMap: resources.configMaps,
  PersistentVolumeClaim: resources.volumeClaims,
};

interface KeyedObject {
  readonly stringData?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
}

/** Secrets and ConfigMaps among the manifests before those of the cluster, since they would be applied together. */
export function objectsOf(
  manifests: readonly Manifest[],
  cluster: Objects | null,
  env: Readonly<Record<string, string | undefined>>,
  namespace: string,
): Objects {
  const given = new Map<string, KeyedObject>();
  for (const { object } of manifests) {
    const resource = kinds[object.kind];
    if (resource === undefined || typeof object.metadata.name !== 'string') continue;
    const { name, namespace: own = namespace } = object.metadata;
    given.set(objectPath(resource, own, name), withStringData(object as KeyedObject));
  }
  return {
    find: async <T>(path: string): Promise<T | null> => {
      const found = given.get(path) ?? (cluster === null ? secretOf(path, env) : await cluster.find(path));
      return found as T | null;
    },
  };
}

function withStringData(object: KeyedObject): KeyedObject {
  return { ...object, data: { ...object.data, ...encoded(object.stringData ?? {}) } };
}

/**
 * Offline, a person's own keys and token stand for every Secret of a store.
 * @throws FailureError S3AccessDenied where there are none
 */
function secretOf(path: string, env: Readonly<Record<string, string | undefined>>): KeyedObject | null {
  const {
    AWS_ACCESS_KEY_ID: id,
    AWS_SECRET_ACCESS_KEY: key,
    HF_TOKEN: token,
    DOCKER_AUTH_CONFIG: docker,
    [listTokenKey]: ofList,
  } = env;
  // Of a claim nothing is known then.
  if (pluralIn(path) === resources.volumeClaims.plural) return {};
  if (pluralIn(path) !== resources.secrets.plural) return null;
  const keys =
    id === undefined || key === undefined ? {} : { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key };
  const data = {
    ...keys,
    ...(token === undefined ? {} : { HF_TOKEN: token }),
    ...(ofList === undefined ? {} : { [listTokenKey]: ofList }),
    ...(docker === undefined ? {} : { [dockerConfigKey]: docker }),
  };
  if (Object.keys(data).length === 0) {
    throw new FailureError(
      'S3AccessDenied',
      `the Secret ${path.slice(path.lastIndexOf('/') + 1)} is not among the manifests; set AWS_ACCESS_KEY_ID and ` +
        'AWS_SECRET_ACCESS_KEY (of a hub HF_TOKEN, of registries DOCKER_AUTH_CONFIG, of lists MODEL_LIST_TOKEN) in its place, or have --diff look in the cluster',
    );
  }
  return { data: encoded(data) };
}

function encoded(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
}
