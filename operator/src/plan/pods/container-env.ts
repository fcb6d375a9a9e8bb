// Variables of a service's containers; one of the user's with the same name replaces ours.

import { paths, ports, serverVariableNames, type EnvVar, type ServerVariableKey } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { prefillName } from '../../kube/prefill-name.js';
import { caConfigMap, dockerConfigKey, listTokenKey } from '../../resource/store-access.js';

/** How stores are reached: credentials and certificates. */
export function storeVariables({ spec }: Pick<WantedService, 'spec'>): EnvVar[] {
  const { credentialsSecretRef: secret } = spec.model.s3;
  const token = spec.model.hub.tokenSecretRef;
  const ofList = spec.model.list.tokenSecretRef;
  const docker = spec.model.oci.credentialsSecretRef;
  const keys = secret === undefined ? [] : ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  return [
    ...keys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: secret?.name ?? '', key } } })),
    ...(token === undefined
      ? []
      : [{ name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: token.name, key: 'HF_TOKEN' } } }]),
    ...(ofList === undefined
      ? []
      : [{ name: listTokenKey, valueFrom: { secretKeyRef: { name: ofList.name, key: listTokenKey } } }]),
    ...(docker === undefined
      ? []
      : [
          {
            name: 'DOCKER_AUTH_CONFIG',
            valueFrom: { secretKeyRef: { name: docker.name, key: dockerConfigKey } },
          },
        ]),
    ...(caConfigMap(spec) === null ? [] : [{ name: 'NODE_EXTRA_CA_CERTS', value: `${paths.s3Ca}/ca.crt` }]),
  ];
}

/** Settings of the runtime's server, which are not the engine's and so not in the engine config. */
export function serverVariables({
  namespace,
  name: service,
  spec,
  adapterRoom,
  nodes,
}: Pick<WantedService, 'namespace' | 'name' | 'spec' | 'adapterRoom' | 'nodes'>): EnvVar[] {
  const { tls, server, administration, requestLog, compatibility } = spec;
  const hasAdapters = adapterRoom.max > 0;
  const settings: Partial<Record<ServerVariableKey, string | number | boolean | undefined>> = {
    service: `${namespace}/${service}`,
    tlsDir: tls.secretRef && paths.tls,
    maxBodyBytes: server?.maxBodyBytes,
    maxBodiesBytes: server?.maxBodiesBytes,
    maxConnections: server?.maxConnections,
    corsOrigins: server?.cors?.origins.join(','),
    trustRequestChatTemplate: server?.trustRequestChatTemplate,
    storedResponsesBytes: server?.storedResponses?.maxBytes,
    storedResponsesUri: server?.storedResponses?.uri,
    storedResponsesCount: server?.storedResponses?.maxCount,
    storedResponsesSeconds: server?.storedResponses?.maxAgeSeconds,
    batchesBytes: server?.batches?.maxBytes,
    batchesUri: server?.batches?.uri,
    batchesFileBytes: server?.batches?.maxFileBytes,
    batchesSeconds: server?.batches?.maxAgeSeconds,
    batchesConcurrent: server?.batches?.maxConcurrent,
    maxWaiting: server?.maxWaiting,
    mostUrgentPriority: server?.mostUrgentPriority,
    compatibility: compatibility === 'none' ? undefined : compatibility,
    logLevel: server?.logLevel,
    adminHost: administration && '127.0.0.1',
    adminPort: administration && ports.administration,
    adminKeysDir: administration && paths.administrationKeys,
    adminAllowedUris: administration?.allowedUris?.join(','),
    requestLog: requestLog?.uri,
    requestLogText: requestLog?.text,
    // Which adapters there are is in a file, since it may change while pods run.
    adaptersDir: hasAdapters ? paths.adapters : undefined,
    maxAdapters: hasAdapters ? adapterRoom.max : undefined,
    maxAdapterRank: hasAdapters ? adapterRoom.maxRank : undefined,
    rankPort: nodes > 1 ? ports.ranks : undefined,
    ...decodeSettings(service, spec.disaggregation),
  };
  return Object.entries(settings).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ name: serverVariableNames[key as ServerVariableKey], value: String(value) }],
  );
}

/** Of the pods that serve clients; those of prefill pods are made of them. */
function decodeSettings(
  service: string,
  disaggregation: WantedService['spec']['disaggregation'],
): Partial<Record<ServerVariableKey, string | number>> {
  if (disaggregation === undefined) return {};
  return {
    disaggregationRole: 'decode',
    prefillHost: prefillName(service),
    prefillMinTokens: disaggregation.minPromptTokens,
    prefillPort: ports.prefill,
    kvTransferPort: ports.kvTransfer,
  };
}

/** What the accelerator's profile gives. */
export function acceleratorVariables({ accelerator }: Pick<WantedService, 'accelerator'>): EnvVar[] {
  return Object.entries(accelerator.env).map(([name, value]) => ({ name, value }));
}

export function withUsers(own: readonly EnvVar[], { spec }: Pick<WantedService, 'spec'>): EnvVar[] {
  const users = spec.env ?? [];
  return [...own.filter(({ name }) => !users.some((user) => user.name === name)), ...users];
}
