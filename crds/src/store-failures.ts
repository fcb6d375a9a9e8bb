// How hubs of models, registries, lists of files and claims fail a service: rows of the table of failures.ts.

import type { FailureKind } from './failure-kind.js';

export const storeFailures = {
  RepositoryNotFound: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Check hf://OWNER/NAME@REVISION in spec.model.uri; for a private repository, name its token in spec.model.hub.tokenSecretRef.',
  },
  HubAccessDenied: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Check the token in the Secret named in spec.model.hub.tokenSecretRef; its account must have accepted the terms of a gated repository.',
  },
  HubCertificateUntrusted: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Put the CA certificate of the endpoint as ca.crt into the ConfigMap named in spec.model.hub.caConfigMapRef, or correct the ' +
      'host in spec.model.hub.endpoint.',
  },
  HubUnavailable: {
    terminal: false,
    httpStatus: 503,
    remedy: 'Wait for the hub or correct spec.model.hub.endpoint; the pull resumes automatically.',
  },
  ArtifactNotFound: {
    terminal: true,
    httpStatus: 503,
    remedy: 'Check oci://REGISTRY/REPOSITORY:TAG in spec.model.uri: its repository and its tag or digest.',
  },
  ArtifactUnsupported: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Push the model as an artifact (ModelPack, or ORAS with titles) whose layers are files or tar archives, and name its tag or digest.',
  },
  RegistryAccessDenied: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Check that the repository exists, and the credentials for its registry in the Secret named in spec.model.oci.credentialsSecretRef ' +
      '(DOCKER_AUTH_CONFIG).',
  },
  RegistryCertificateUntrusted: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Put the CA certificate of the registry as ca.crt into the ConfigMap named in spec.model.oci.caConfigMapRef, or correct the ' +
      'host in spec.model.uri.',
  },
  ListNotFound: {
    terminal: true,
    httpStatus: 503,
    remedy: 'Check https://HOST/PATH/LIST.json in spec.model.uri: no list of files lies there.',
  },
  ListUnsupported: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Write the list as deploy/docs/lists.md says, and serve the files from a server that honours ranges.',
  },
  ListAccessDenied: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Check the token in the Secret named in spec.model.list.tokenSecretRef; files on other hosts than that of the list need none.',
  },
  ListCertificateUntrusted: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Put the CA certificate of the server as ca.crt into the ConfigMap named in spec.model.list.caConfigMapRef, or correct the ' +
      'host in spec.model.uri.',
  },
  ListUnavailable: {
    terminal: false,
    httpStatus: 503,
    remedy:
      'Wait for the server of the list or correct its host in spec.model.uri; the pull resumes automatically.',
  },
  ClaimNotFound: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Make the PersistentVolumeClaim in the namespace of the service, or correct its name in pvc://CLAIM/PATH.',
  },
  ClaimUnusable: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Name a claim with a file system whose volume is there and stays; deploy/docs/claims.md says which access modes will do.',
  },
  RegistryUnavailable: {
    terminal: false,
    httpStatus: 503,
    remedy: 'Wait for the registry or correct its host in spec.model.uri; the pull resumes automatically.',
  },
} as const satisfies Record<string, FailureKind>;
