// One installed operator: its settings from its Deployment, its Lease, what its account may, and the gateways that it refers to.

import type { KubeClient } from '../kube/client.js';
import { collectionPath, objectPath, resources } from '../kube/resources.js';
import type { Deployment, KubeObject, Pod } from '../kube/types.js';
import { leaseName } from '../operator.js';
import { deniedRequests } from './access-reviews.js';
import { doctorResources } from './doctor-resources.js';
import type { GatewayObject, Lease, OperatorFacts, OperatorSettings } from './facts.js';
import { parseNamespaces } from '../options.js';
import { leaderRules, operatorRules, requestsOf, type DeniedRequest } from './operator-rules.js';
import { attempt } from './reading.js';

const classesPath = collectionPath(doctorResources.gatewayClasses, null);

export async function readOperator(client: KubeClient, deployment: Deployment): Promise<OperatorFacts> {
  const { namespace = '' } = deployment.metadata;
  const settings = settingsOf(deployment);
  const { gateway, istioGateway } = settings;
  const found =
    gateway === null
      ? null
      : await attempt(() =>
          client.find<GatewayObject>(objectPath(resources.gateways, gateway.namespace, gateway.name)),
        );
  const className = found?.state === 'read' ? found.value?.spec?.gatewayClassName : undefined;
  return {
    deployment,
    settings,
    lease: await attempt(() =>
      client.find<Lease>(objectPath(resources.leases, namespace, settings.leaseName)),
    ),
    pods: await attempt(() => podNames(client, deployment)),
    denied: await attempt(() => deniedTo(client, namespace, settings)),
    gateway: found,
    gatewayClass:
      className === undefined
        ? null
        : await attempt(() => client.find<GatewayObject>(`${classesPath}/${encodeURIComponent(className)}`)),
    istioGateway:
      istioGateway === null
        ? null
        : await attempt(() =>
            client.find<KubeObject>(
              objectPath(doctorResources.istioGateways, istioGateway.namespace, istioGateway.name),
            ),
          ),
  };
}

async function podNames(client: KubeClient, { metadata, spec }: Deployment): Promise<string[]> {
  const { selector } = (spec ?? {}) as { selector?: { matchLabels?: Readonly<Record<string, string>> } };
  const labelSelector = Object.entries(selector?.matchLabels ?? {})
    .map((pair) => pair.join('='))
    .join(',');
  const path = collectionPath(resources.pods, metadata.namespace ?? '');
  return (await client.listAll<Pod>(path, { labelSelector })).map((pod) => pod.metadata.name);
}

async function deniedTo(
  client: KubeClient,
  namespace: string,
  { serviceAccount, watchNamespaces }: OperatorSettings,
): Promise<DeniedRequest[]> {
  const account = { namespace, name: serviceAccount };
  const denied: DeniedRequest[] = [];
  for (const watched of watchNamespaces ?? ['']) {
    denied.push(...(await deniedRequests(client, requestsOf(operatorRules), watched, account)));
  }
  return [...denied, ...(await deniedRequests(client, requestsOf(leaderRules), namespace, account))];
}

interface PodTemplate {
  readonly spec?: {
    readonly serviceAccountName?: string;
    readonly containers?: readonly {
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
    }[];
  };
}

/** As the chart writes it. */
export function settingsOf({ spec }: Deployment): OperatorSettings {
  const pod = (spec?.template as PodTemplate | undefined)?.spec;
  const env = new Map((pod?.containers?.[0]?.env ?? []).map(({ name, value = '' }) => [name, value]));
  const text = (name: string): string | null => {
    const value = env.get(name) ?? '';
    return value === '' ? null : value;
  };
  const [name, namespace] = [text('GATEWAY_NAME'), text('GATEWAY_NAMESPACE')];
  const [istioNamespace, istioName] = text('ISTIO_GATEWAY')?.split('/') ?? [];
  return {
    watchNamespaces: parseNamespaces(text('WATCH_NAMESPACE')),
    gateway: name === null || namespace === null ? null : { name, namespace },
    istioGateway:
      istioNamespace === undefined || istioName === undefined
        ? null
        : { name: istioName, namespace: istioNamespace },
    endpointPickerImage: text('ENDPOINT_PICKER_IMAGE'),
    serviceAccount: pod?.serviceAccountName ?? 'default',
    leaseName: leaseName(text('OPERATOR_INSTANCE')),
  };
}
