// How a service's stores are reached, from spec.model.s3, hub, oci and list, and the keys among the variables of spec.env
// (which win, as they do in the pod): so that the operator reads with exactly what the pod will read with, and never with its
// own identity.

import { googleStorage, type CheckpointFolder } from '@llmservice/checkpoint';
import { defaultHubEndpoint, hubFolder } from '@llmservice/checkpoint/hub';
import { listFolder } from '@llmservice/checkpoint/list';
import { ociFolder } from '@llmservice/checkpoint/oci';
import { usesGoogle, usesHub, usesList, usesRegistry, type EnvVar, type StoreKind } from '@llmservice/crds';
import type { CheckpointLocation, WantedService } from '../domain/wanted-service.js';

/** Where a credential is found. */
export type CredentialSource =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'secret'; readonly name: string; readonly key: string };

/** Key of a Secret of type kubernetes.io/dockerconfigjson. */
export const dockerConfigKey = '.dockerconfigjson';

/** Variable and key of a Secret. */
export const listTokenKey = 'MODEL_LIST_TOKEN';

export interface S3Access {
  /** Null: AWS itself. */
  readonly endpoint: string | null;
  /** Of Google Cloud Storage. */
  readonly google: boolean;
  readonly region: string;
  readonly forcePathStyle: boolean;
  /** Null: requests are not signed. */
  readonly credentials: {
    readonly accessKeyId: CredentialSource;
    readonly secretAccessKey: CredentialSource;
  } | null;
}

export interface HubAccess {
  /** Without a slash at its end. */
  readonly endpoint: string;
  /** Null: requests name nobody. */
  readonly token: CredentialSource | null;
}

export interface OciAccess {
  readonly plainHttp: boolean;
  /** With the credentials of registries; null: requests name nobody. */
  readonly dockerConfig: CredentialSource | null;
}

export function s3Access({ spec }: Pick<WantedService, 'spec'>): S3Access {
  const { s3 } = spec.model;
  const env = new Map((spec.env ?? []).map((variable) => [variable.name, variable]));
  const accessKeyId = source(
    env.get('AWS_ACCESS_KEY_ID'),
    s3.credentialsSecretRef?.name,
    'AWS_ACCESS_KEY_ID',
  );
  const secretAccessKey = source(
    env.get('AWS_SECRET_ACCESS_KEY'),
    s3.credentialsSecretRef?.name,
    'AWS_SECRET_ACCESS_KEY',
  );
  const google = usesGoogle(spec);
  return {
    ...(google && s3.endpoint === undefined
      ? googleStorage
      : { endpoint: s3.endpoint ?? null, region: s3.region ?? 'us-east-1' }),
    google,
    forcePathStyle: s3.forcePathStyle,
    credentials: accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey },
  };
}

export function hubAccess({ spec }: Pick<WantedService, 'spec'>): HubAccess {
  const { hub } = spec.model;
  const variable = (spec.env ?? []).find(({ name }) => name === 'HF_TOKEN');
  return {
    endpoint: (hub.endpoint ?? defaultHubEndpoint).replace(/\/+$/, ''),
    token: usesHub(spec) ? source(variable, hub.tokenSecretRef?.name, 'HF_TOKEN') : null,
  };
}

export function ociAccess({ spec }: Pick<WantedService, 'spec'>): OciAccess {
  const { oci } = spec.model;
  const variable = (spec.env ?? []).find(({ name }) => name === 'DOCKER_AUTH_CONFIG');
  return {
    plainHttp: oci.plainHttp,
    dockerConfig: usesRegistry(spec)
      ? source(variable, oci.credentialsSecretRef?.name, dockerConfigKey)
      : null,
  };
}

/** The token for the host of a list; null: requests name nobody. */
export function listToken({ spec }: Pick<WantedService, 'spec'>): CredentialSource | null {
  const variable = (spec.env ?? []).find(({ name }) => name === listTokenKey);
  return usesList(spec) ? source(variable, spec.model.list.tokenSecretRef?.name, listTokenKey) : null;
}

/** ConfigMap with further CA certificates under ca.crt, and the field that names it; null: none. */
export function caConfigMap({
  model: { s3, hub, oci, list },
}: Pick<WantedService['spec'], 'model'>): { readonly name: string; readonly field: string } | null {
  if (s3.caConfigMapRef !== undefined) return { name: s3.caConfigMapRef.name, field: 'spec.model.s3' };
  if (hub.caConfigMapRef !== undefined) return { name: hub.caConfigMapRef.name, field: 'spec.model.hub' };
  if (oci.caConfigMapRef !== undefined) return { name: oci.caConfigMapRef.name, field: 'spec.model.oci' };
  const own = list.caConfigMapRef;
  return own === undefined ? null : { name: own.name, field: 'spec.model.list' };
}

/** Whether the kubelet pulls the checkpoint, as an image that is mounted. */
export function isImageVolume({ checkpoint, spec }: Pick<WantedService, 'checkpoint' | 'spec'>): boolean {
  return 'registry' in checkpoint && spec.model.oci.delivery === 'imageVolume';
}

/** Null: on a claim. */
export function storeOf(location: CheckpointLocation): StoreKind | null {
  if ('claim' in location) return null;
  if ('registry' in location) return 'oci';
  if ('list' in location) return 'list';
  return 'repository' in location ? 'hub' : 's3';
}

/** The place of which a checkpoint's pin is made. */
export function placeOf(
  service: Pick<WantedService, 'spec'>,
  location: CheckpointLocation,
): CheckpointFolder {
  if ('claim' in location)
    return { endpoint: null, bucket: location.claim, prefix: location.folder, file: location.file };
  if ('registry' in location) return ociFolder(location);
  if ('list' in location) return listFolder(location);
  return 'repository' in location
    ? hubFolder(hubAccess(service).endpoint, location)
    : { endpoint: s3Access(service).endpoint, ...location };
}

function source(
  variable: EnvVar | undefined,
  secret: string | undefined,
  key: string,
): CredentialSource | null {
  const reference = variable?.valueFrom?.secretKeyRef;
  if (reference !== undefined) return { kind: 'secret', name: reference.name, key: reference.key };
  // The runtime takes an empty variable for none; it still stands in the place of the Secret's.
  if (variable?.value !== undefined)
    return variable.value === '' ? null : { kind: 'literal', value: variable.value };
  return secret === undefined ? null : { kind: 'secret', name: secret, key };
}
