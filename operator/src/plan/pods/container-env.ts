// Variables of a service's containers; one of the user's with the same name replaces ours.

import { paths, ports, type EnvVar } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';

/** How the bucket is reached: credentials and certificates. */
export function s3Variables({ spec }: Pick<WantedService, 'spec'>): EnvVar[] {
  const { credentialsSecretRef: secret, caConfigMapRef: ca } = spec.model.s3;
  const keys = secret === undefined ? [] : ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  return [
    ...keys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: secret?.name ?? '', key } } })),
    ...(ca === undefined ? [] : [{ name: 'NODE_EXTRA_CA_CERTS', value: `${paths.s3Ca}/ca.crt` }]),
  ];
}

/** Settings of the runtime's server, which are not the engine's and so not in the engine config. */
export function serverVariables({
  namespace,
  name: service,
  spec,
}: Pick<WantedService, 'namespace' | 'name' | 'spec'>): EnvVar[] {
  const { tls, server, administration, requestLog } = spec;
  const variables: Readonly<Record<string, string | number | boolean | undefined>> = {
    LLMSERVICE_SERVICE: `${namespace}/${service}`,
    LLMSERVICE_TLS_DIR: tls.secretRef && paths.tls,
    LLMSERVICE_MAX_BODY_BYTES: server?.maxBodyBytes,
    LLMSERVICE_MAX_BODIES_BYTES: server?.maxBodiesBytes,
    LLMSERVICE_MAX_CONNECTIONS: server?.maxConnections,
    LLMSERVICE_MAX_WAITING: server?.maxWaiting,
    LLMSERVICE_MOST_URGENT_PRIORITY: server?.mostUrgentPriority,
    LLMSERVICE_LOG_LEVEL: server?.logLevel,
    LLMSERVICE_ADMIN_HOST: administration && '127.0.0.1',
    LLMSERVICE_ADMIN_PORT: administration && ports.administration,
    LLMSERVICE_ADMIN_KEYS_DIR: administration && paths.administrationKeys,
    LLMSERVICE_ADMIN_ALLOWED_URIS: administration?.allowedUris?.join(','),
    LLMSERVICE_REQUEST_LOG_URI: requestLog?.uri,
    LLMSERVICE_REQUEST_LOG_TEXT: requestLog?.text,
  };
  return Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value: String(value) }],
  );
}

/** What the accelerator's profile gives. */
export function acceleratorVariables({ accelerator }: Pick<WantedService, 'accelerator'>): EnvVar[] {
  return Object.entries(accelerator.env).map(([name, value]) => ({ name, value }));
}

export function withUsers(own: readonly EnvVar[], { spec }: Pick<WantedService, 'spec'>): EnvVar[] {
  const users = spec.env ?? [];
  return [...own.filter(({ name }) => !users.some((user) => user.name === name)), ...users];
}
