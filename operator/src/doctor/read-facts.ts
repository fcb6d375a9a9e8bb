// Reads what the checks need. The API server must answer; all else may be forbidden.

import { text } from 'node:stream/consumers';
import { activatorName, api, fieldManager, labels } from '@llmservice/crds';
import { errorText } from '../kube/error-text.js';
import type { KubeClient } from '../kube/client.js';
import { ClusterError, type Connection } from '../kube/connect.js';
import { listIfServed } from '../kube/list-if-served.js';
import { collectionPath, objectPath, resources, type Resource } from '../kube/resources.js';
import type { Deployment, KubeObject, Node } from '../kube/types.js';
import { requestedByNode } from '../watch/cluster-room.js';
import { deniedRequests } from './access-reviews.js';
import { classesOf } from './class-facts.js';
import { doctorResources } from './doctor-resources.js';
import type { ClusterFacts, CustomResourceDefinition, GatewayObject } from './facts.js';
import { personRules, requestsOf } from './operator-rules.js';
import { readOperator } from './read-operator.js';
import { readServices } from './read-services.js';
import { attempt, type Reading } from './reading.js';

export interface Scope {
  /** Of the services that are checked. */
  readonly namespace: string;
  /** Null: all of the namespace. */
  readonly service: string | null;
  /** Null: wherever it is. */
  readonly operatorNamespace: string | null;
}

/** @throws ClusterError where the API server does not answer, or not to this person */
export async function readFacts({ client, server }: Connection, scope: Scope): Promise<ClusterFacts> {
  const { version, now } = await readVersion(client, server);
  const { namespace, service, operatorNamespace } = scope;
  const definition = `${collectionPath(doctorResources.definitions, null)}/${api.plural}.${api.group}`;
  const list = <T extends KubeObject>(resource: Resource): Promise<Reading<T[]>> =>
    attempt(() => client.listAll<T>(collectionPath(resource, null)));
  const installed = (name: string): Promise<Deployment[]> => {
    const path = collectionPath(resources.deployments, operatorNamespace);
    return client.listAll<Deployment>(path, { labelSelector: `${labels.name}=${name}` });
  };
  const serviceClasses = await attempt(() =>
    listIfServed(client, collectionPath(resources.llmServiceClasses, null)),
  );
  return {
    server,
    version,
    now,
    namespace,
    groups: await attempt(async () => {
      const { groups } = await client.get<{ groups: { name: string }[] }>('/apis');
      return groups.map(({ name }) => name);
    }),
    servesOurs: await attempt(async () => (await client.find(`/apis/${api.groupVersion}`)) !== null),
    definition: await attempt(() => client.find<CustomResourceDefinition>(definition)),
    operators: await attempt(async () => {
      const found = await installed(fieldManager);
      return Promise.all(found.map((deployment) => readOperator(client, deployment)));
    }),
    activators: await attempt(() => installed(activatorName)),
    deniedToPerson: await attempt(() => deniedRequests(client, requestsOf(personRules), namespace, null)),
    nodes: await list<Node>(resources.nodes),
    resourceSlices: await attempt(() => listIfServed(client, collectionPath(resources.resourceSlices, null))),
    requested: await attempt(() => requestedByNode(client)),
    gatewayClasses: await list<GatewayObject>(doctorResources.gatewayClasses),
    storageClasses: await list(doctorResources.storageClasses),
    service,
    services: await attempt(async () => {
      const path = collectionPath(resources.llmServices, namespace);
      const objects =
        service === null
          ? await client.listAll(path)
          : [await client.find<KubeObject>(objectPath(resources.llmServices, namespace, service))];
      return readServices(
        client,
        objects.filter((object) => object !== null),
        classesOf(serviceClasses),
      );
    }),
    serviceClasses,
    modelGateways: await attempt(() =>
      listIfServed(client, collectionPath(resources.llmGateways, namespace)),
    ),
  };
}

/** The clock of the API server is the one by which Leases are judged. */
async function readVersion(client: KubeClient, server: string): Promise<{ version: string; now: Date }> {
  try {
    const signal = AbortSignal.timeout(10_000);
    const response = await client.open({ method: 'GET', path: '/version', signal });
    const { gitVersion } = JSON.parse(await text(response)) as { gitVersion: string };
    const { date } = response.headers;
    return { version: gitVersion, now: date === undefined ? new Date() : new Date(date) };
  } catch (error) {
    throw new ClusterError(`the API server at ${server} does not answer: ${errorText(error)}`, {
      cause: error,
    });
  }
}
