// What every error of a registry means: codes as the OCI distribution specification lists them
// (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes), and what our client finds of an artifact.

import type { FailureReason } from './failures.js';
import {
  connectionRows,
  readStoreError,
  type StoreErrorReading,
  type StoreErrorRow,
} from './store-errors.js';

/** A failure of the service, or a word about the one file that was asked for, which only who asked can judge. */
export type OciMeaning =
  | Extract<
      FailureReason,
      | 'ArtifactNotFound'
      | 'ArtifactUnsupported'
      | 'CheckpointCorrupt'
      | 'RegistryAccessDenied'
      | 'RegistryCertificateUntrusted'
      | 'RegistryUnavailable'
    >
  | 'objectAbsent'
  | 'objectChanged';

export const ociErrorTable: readonly StoreErrorRow<OciMeaning>[] = [
  {
    means: 'ArtifactNotFound',
    what: 'the repository does not exist',
    codes: ['NAME_UNKNOWN', 'NAME_INVALID'],
  },
  {
    means: 'ArtifactNotFound',
    what: 'the repository has no such tag or digest',
    codes: ['MANIFEST_UNKNOWN', 'TAG_INVALID'],
    hint: 'name a tag or a digest of the repository',
  },
  {
    means: 'ArtifactNotFound',
    what: 'a layer of the artifact is gone',
    codes: ['BLOB_UNKNOWN', 'MANIFEST_BLOB_UNKNOWN'],
    hint: 'the registry lacks a layer that the manifest names: push the artifact again',
  },
  {
    means: 'RegistryAccessDenied',
    what: 'the repository does not exist, or is private, and no credentials were given',
    codes: ['NoCredentials'],
    hint: 'no credentials were given for the registry, which hides what is private',
  },
  {
    means: 'ArtifactUnsupported',
    what: 'the reference leads to an index of images',
    codes: ['IndexOfManifests'],
    hint: 'name the digest of one manifest of the index',
  },
  {
    means: 'ArtifactUnsupported',
    what: 'a compressed layer expands to far more than it is, or with a window that is too large',
    codes: ['ExpandsTooFar', 'WindowTooLarge'],
    hint: 'push the model without compression, which leaves weights as they are: as files or tar archives',
  },
  {
    means: 'ArtifactUnsupported',
    what: 'headers lie deep in a compressed layer',
    codes: ['UnpackedTooLong'],
    hint: 'push each file as a layer of its own with org.cncf.model.filepath, or archives without compression',
  },
  {
    means: 'ArtifactUnsupported',
    what: 'the manifest is none of an artifact with layers',
    codes: ['MANIFEST_INVALID', 'AnswerTooLong'],
  },
  {
    means: 'ArtifactUnsupported',
    what: 'an archive has sparse files',
    codes: ['SparseArchive'],
    hint: 'pack the files without holes: by tar without --sparse',
  },
  {
    means: 'ArtifactUnsupported',
    what: 'the artifact has more layers or files than a checkpoint has',
    codes: ['TooManyFiles'],
    hint: 'push the checkpoint alone: at most 1,000 layers, whose archives have at most 4,000 members together',
  },
  {
    means: 'ArtifactUnsupported',
    what: 'a path of the artifact is none of a file',
    codes: ['InvalidPath'],
    hint: 'paths have at most 4 KiB, and no control characters',
  },
  {
    means: 'ArtifactUnsupported',
    what: 'no range of an archive can be read',
    codes: ['RangeNotHonoured'],
    hint: 'the registry answers no ranges of blobs: push the model as files, or to a registry that does',
  },
  {
    means: 'RegistryAccessDenied',
    what: 'the registry asks for a token of a server that it does not name',
    codes: ['InvalidRealm'],
    hint: 'the realm that the registry is set to must be an http(s) URL without a user',
  },
  {
    means: 'RegistryAccessDenied',
    what: 'the registry leads to a host, or names a token server, without TLS',
    codes: ['InsecureRedirect'],
    hint: 'storage of a registry with TLS, and token servers on other hosts than the registry, need https:// URLs',
  },
  {
    means: 'RegistryAccessDenied',
    what: 'the registry redirects without end, or to no http(s) URL without a user',
    codes: ['TooManyRedirects', 'InvalidRedirect'],
    hint: 'correct the redirects of the registry: at most 5 are followed',
  },
  {
    means: 'CheckpointCorrupt',
    what: 'the content of the manifest, or of an archive, is not what its name says',
    codes: ['DigestMismatch', 'BrokenArchive', 'DIGEST_INVALID', 'SIZE_INVALID'],
  },
  ...connectionRows<OciMeaning>({
    untrusted: 'RegistryCertificateUntrusted',
    unavailable: 'RegistryUnavailable',
    endpoint: 'spec.model.uri',
    plain:
      'spec.model.oci.plainHttp is set for a registry that speaks HTTPS, or is not for one that does not',
  }),
  {
    means: 'objectAbsent',
    what: 'a file of the artifact does not exist',
    codes: ['FileAbsent'],
    statuses: [404],
  },
  {
    means: 'RegistryAccessDenied',
    what: 'the credentials are wrong, or not allowed to pull',
    codes: ['UNAUTHORIZED', 'DENIED'],
    statuses: [401, 403],
  },
  {
    means: 'objectChanged',
    what: 'the file is shorter than it was',
    codes: [],
    statuses: [412, 416],
  },
];

/** An answer of no row (TOOMANYREQUESTS, 429, 5xx) is that of a registry that is busy or fails. */
export function readOciError(error: unknown): StoreErrorReading<OciMeaning> {
  return readStoreError(ociErrorTable, error, () => 'RegistryUnavailable');
}
