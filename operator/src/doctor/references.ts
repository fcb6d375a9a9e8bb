// Secrets, ConfigMaps and claims that a service names, and the keys that it needs of each. Pure.

import { parseClaimUri } from '@llmservice/checkpoint';
import type { LlmServiceSpec } from '@llmservice/crds';
import { dockerConfigKey, listTokenKey } from '../resource/store-access.js';

export interface ReferencedObject {
  readonly kind: 'Secret' | 'ConfigMap' | 'PersistentVolumeClaim';
  readonly name: string;
  /** Each must be there, or one of several. */
  readonly keys: readonly (string | readonly string[])[];
  /** The field that names it. */
  readonly field: string;
}

type Spec = Pick<
  LlmServiceSpec,
  'model' | 'auth' | 'tls' | 'env' | 'imagePullSecrets' | 'accounting' | 'administration'
>;

export function referencesOf({
  model,
  auth,
  tls,
  accounting,
  administration,
  env = [],
  imagePullSecrets = [],
}: Spec): ReferencedObject[] {
  const { credentialsSecretRef, caConfigMapRef } = model.s3;
  const named = (
    kind: ReferencedObject['kind'],
    field: string,
    ref: { readonly name: string } | undefined,
    keys: ReferencedObject['keys'],
  ): ReferencedObject[] => (ref === undefined ? [] : [{ kind, name: ref.name, keys, field }]);
  const { claimName } = model.cache;
  const claim = claimName === undefined ? undefined : { name: claimName };
  const ownClaim = parseClaimUri(model.uri)?.claim ?? null;
  const own = new Set(env.map(({ name }) => name));
  const keyFiles = [['keys.yaml', 'keys.json']];
  const s3Keys = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].filter((key) => !own.has(key));
  return [
    ...named('Secret', 'spec.model.s3.credentialsSecretRef', credentialsSecretRef, s3Keys),
    ...named('ConfigMap', 'spec.model.s3.caConfigMapRef', caConfigMapRef, ['ca.crt']),
    ...named(
      'Secret',
      'spec.model.hub.tokenSecretRef',
      model.hub.tokenSecretRef,
      own.has('HF_TOKEN') ? [] : ['HF_TOKEN'],
    ),
    ...named('ConfigMap', 'spec.model.hub.caConfigMapRef', model.hub.caConfigMapRef, ['ca.crt']),
    ...named(
      'Secret',
      'spec.model.oci.credentialsSecretRef',
      model.oci.credentialsSecretRef,
      own.has('DOCKER_AUTH_CONFIG') ? [] : [dockerConfigKey],
    ),
    ...named('ConfigMap', 'spec.model.oci.caConfigMapRef', model.oci.caConfigMapRef, ['ca.crt']),
    ...named(
      'Secret',
      'spec.model.list.tokenSecretRef',
      model.list.tokenSecretRef,
      own.has(listTokenKey) ? [] : [listTokenKey],
    ),
    ...named('ConfigMap', 'spec.model.list.caConfigMapRef', model.list.caConfigMapRef, ['ca.crt']),
    ...named('Secret', 'spec.auth.keysSecretRef', auth.keysSecretRef, keyFiles),
    ...named('Secret', 'spec.administration.keysSecretRef', administration?.keysSecretRef, keyFiles),
    ...named('Secret', 'spec.tls.secretRef', tls.secretRef, ['tls.crt', 'tls.key']),
    ...named('ConfigMap', 'spec.tls.caConfigMapRef', tls.caConfigMapRef, ['ca.crt']),
    ...named(
      'PersistentVolumeClaim',
      'spec.accounting.persistentVolumeClaimRef',
      accounting.persistentVolumeClaimRef,
      [],
    ),
    ...named('PersistentVolumeClaim', 'spec.model.cache.claimName', claim, []),
    ...named(
      'PersistentVolumeClaim',
      'spec.model.uri',
      ownClaim === null ? undefined : { name: ownClaim },
      [],
    ),
    ...imagePullSecrets.flatMap((ref) =>
      named('Secret', 'spec.imagePullSecrets', ref, [['.dockerconfigjson', '.dockercfg']]),
    ),
    ...env.flatMap(({ name, valueFrom }) => {
      const secret = valueFrom?.secretKeyRef;
      return secret === undefined ? [] : named('Secret', `spec.env ${name}`, secret, [secret.key]);
    }),
  ];
}

/** What is missing of an object that is there. */
export function missingKeys(reference: ReferencedObject, keys: readonly string[]): string[] {
  return reference.keys
    .filter((key) => !(typeof key === 'string' ? [key] : key).some((each) => keys.includes(each)))
    .map((key) => (typeof key === 'string' ? key : key.join(' or ')));
}
