// Variables of a service's containers; one of the user's with the same name replaces ours.

import { paths, type EnvVar } from '@llmservice/crds';
import type { WantedService } from '../../spec/parse-spec.js';

/** How the bucket is reached: credentials and certificates. */
export function s3Variables({ spec }: Pick<WantedService, 'spec'>): EnvVar[] {
  const { credentialsSecretRef: secret, caConfigMapRef: ca } = spec.model.s3;
  const keys = secret === undefined ? [] : ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  return [
    ...keys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: secret?.name ?? '', key } } })),
    ...(ca === undefined ? [] : [{ name: 'NODE_EXTRA_CA_CERTS', value: `${paths.s3Ca}/ca.crt` }]),
  ];
}

/** What the accelerator's profile gives. */
export function acceleratorVariables({ accelerator }: Pick<WantedService, 'accelerator'>): EnvVar[] {
  return Object.entries(accelerator.env).map(([name, value]) => ({ name, value }));
}

export function withUsers(own: readonly EnvVar[], { spec }: Pick<WantedService, 'spec'>): EnvVar[] {
  const users = spec.env ?? [];
  return [...own.filter(({ name }) => !users.some((user) => user.name === name)), ...users];
}
