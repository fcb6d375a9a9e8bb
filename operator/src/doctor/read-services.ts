// Services with what they name, and their checkpoints as the operator would read them, from where this runs.

import type { KubeClient } from '../kube/client.js';
import { keyOf, objectPath, resources, type Resource } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { anyEndpoint } from '../preflight/address-guard.js';
import { guardedBy } from '../preflight/cluster-guard.js';
import { Stores } from '../preflight/stores.js';
import { Preflight } from '../preflight/preflight.js';
import { ServiceSecrets } from '../preflight/service-secrets.js';
import type { KnownClasses } from '../plan/class/known-classes.js';
import { resolveClass } from '../plan/class/resolve-class.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { ServiceFacts, StoredObject } from './facts.js';
import { attempt } from './reading.js';
import { referencesOf, type ReferencedObject } from './references.js';

export function readServices(
  client: KubeClient,
  objects: readonly KubeObject[],
  classes: KnownClasses,
): Promise<ServiceFacts[]> {
  const preflight = new Preflight(new Stores(new ServiceSecrets(client), guardedBy(anyEndpoint), client));
  return Promise.all(
    objects.map(async (object) => {
      const parsed = resolveClass(object, classes);
      if (!parsed.ok) return { object, references: [], checkpoint: null };
      const { service } = parsed;
      const references = await Promise.all(
        referencesOf(service.spec).map(async (reference) => {
          const reading = await attempt(() => readStored(client, service, reference));
          return [reference, reading] as const;
        }),
      );
      return { object, references, checkpoint: await readCheckpoint(preflight, service, references) };
    }),
  );
}

async function readCheckpoint(
  preflight: Preflight,
  service: WantedService,
  references: ServiceFacts['references'],
): Promise<ServiceFacts['checkpoint']> {
  // Without its keys the store would be read as nobody: the line about the Secret is enough.
  const unread = references.some(
    ([{ field }, { state }]) => state !== 'read' && /^spec\.model\.(s3|hub|oci|list)\./.test(field),
  );
  return unread ? null : attempt(() => preflight.resolve(keyOf({ metadata: service }), service));
}

const stored: Readonly<Record<ReferencedObject['kind'], Resource>> = {
  Secret: resources.secrets,
  ConfigMap: resources.configMaps,
  PersistentVolumeClaim: resources.volumeClaims,
};

async function readStored(
  client: KubeClient,
  { namespace }: WantedService,
  { kind, name }: ReferencedObject,
): Promise<StoredObject | null> {
  const found = await client.find<{ data?: object }>(objectPath(stored[kind], namespace, name));
  return found === null ? null : { keys: Object.keys(found.data ?? {}) };
}
