// The store that a URI names, once what is given for reaching it is known: as a source of bytes with a client of its own.

import { googleStorage, type ByteSource, type CheckpointFolder } from '@llmservice/checkpoint';
import { HubByteSource, hubFolder } from '@llmservice/checkpoint/hub';
import { ListByteSource, listFolder, type ListToken } from '@llmservice/checkpoint/list';
import { credentialsFor, OciByteSource, ociFolder, registryEndpoint } from '@llmservice/checkpoint/oci';
import { S3ByteSource } from '@llmservice/checkpoint/s3';
import type { CheckpointUri } from './checkpoint-uri.js';
import { makeHttpClient } from './http-client.js';
import { makeS3Client, type S3Settings } from './s3-client.js';

export interface StoreSettings {
  readonly s3: S3Settings;
  readonly hub: HubSettings;
  readonly oci: OciSettings;
  readonly list: ListSettings;
}

export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  /** Null: requests name nobody. */
  readonly token: string | null;
  /** PEM certificates to trust besides the system's roots. */
  readonly caCertificates: readonly string[];
}

export interface OciSettings {
  /** Registries are spoken to without TLS. */
  readonly plainHttp: boolean;
  /** URI of the artifact that is mounted here, so that it is not pulled. Absent: there is none. */
  readonly mounted?: string;
  /** The file in which container tools keep credentials, as text; null: requests name nobody. */
  readonly dockerConfig: string | null;
  /** PEM certificates to trust besides the system's roots. */
  readonly caCertificates: readonly string[];
}

export interface ListSettings {
  /** For lists of its origin alone; null: requests name nobody. */
  readonly token: ListToken | null;
  /** PEM certificates to trust besides the system's roots. */
  readonly caCertificates: readonly string[];
}

export type StoreUri = Exclude<CheckpointUri, { readonly kind: 'folder' }>;

export interface OpenStore {
  readonly bytes: ByteSource;
  /** The place of the checkpoint, of which its pin is made. */
  readonly folder: CheckpointFolder;
  /** Ends reads that wait for a server that says nothing. Idempotent. */
  readonly disconnect: () => void;
}

/**
 * @param signal disconnects too
 * @param alive called as bytes come that nobody asked for
 * @throws FailureError RegistryAccessDenied where credentials for a registry cannot be read
 */
export function openStore(
  uri: StoreUri,
  settings: StoreSettings,
  signal: AbortSignal,
  alive: () => void,
): OpenStore {
  const { bytes, folder, destroy } = open(uri, settings, alive);
  signal.addEventListener('abort', destroy);
  const disconnect = (): void => {
    signal.removeEventListener('abort', destroy);
    destroy();
  };
  return { bytes, folder, disconnect };
}

interface Opened extends Omit<OpenStore, 'disconnect'> {
  readonly destroy: () => void;
}

function open(uri: StoreUri, settings: StoreSettings, alive: () => void): Opened {
  switch (uri.kind) {
    case 's3':
      return openBucket(uri, settings.s3);
    case 'hub':
      return openHub(uri, settings.hub);
    case 'oci':
      return openArtifact(uri, settings.oci, alive);
    case 'list':
      return openList(uri, settings.list);
  }
}

function openBucket(uri: StoreUri & { readonly kind: 's3' }, settings: S3Settings): Opened {
  const { google } = uri;
  const { endpoint, region } = google && settings.endpoint === null ? googleStorage : settings;
  const client = makeS3Client({ ...settings, endpoint, region });
  const prefix = uri.prefix.replace(/[^/]\/*$/, (end) => `${end.charAt(0)}/`);
  return {
    bytes: new S3ByteSource(client, uri.bucket, uri.prefix, { google }),
    folder: { endpoint, bucket: uri.bucket, prefix, file: uri.file },
    destroy: () => client.destroy(),
  };
}

function openHub({ place }: StoreUri & { readonly kind: 'hub' }, settings: HubSettings): Opened {
  const { fetch, destroy } = makeHttpClient(settings.caCertificates);
  return {
    bytes: new HubByteSource({ endpoint: settings.endpoint, token: settings.token, fetch }, place),
    folder: hubFolder(settings.endpoint, place),
    destroy,
  };
}

function openArtifact(
  { place }: StoreUri & { readonly kind: 'oci' },
  settings: OciSettings,
  alive: () => void,
): Opened {
  const { dockerConfig, plainHttp, caCertificates } = settings;
  const credentials = dockerConfig === null ? null : credentialsFor(place.registry, dockerConfig);
  const { fetch, destroy } = makeHttpClient(caCertificates);
  const endpoint = registryEndpoint(place.registry, plainHttp);
  return {
    bytes: new OciByteSource({ endpoint, credentials, fetch }, place, { look: 'whole', onBytes: alive }),
    folder: ociFolder(place),
    destroy,
  };
}

function openList({ place }: StoreUri & { readonly kind: 'list' }, settings: ListSettings): Opened {
  const { fetch, destroy } = makeHttpClient(settings.caCertificates);
  return {
    bytes: new ListByteSource({ token: settings.token, fetch }, place),
    folder: listFolder(place),
    destroy,
  };
}
