// The store that a URI names, once what is given for reaching it is known: as a source of bytes with a client of its own.

import type { ByteSource, CheckpointFolder } from '@llmservice/checkpoint';
import { HubByteSource, hubFolder } from '@llmservice/checkpoint/hub';
import { S3ByteSource } from '@llmservice/checkpoint/s3';
import type { CheckpointUri } from './checkpoint-uri.js';
import { makeHubClient, type HubSettings } from './hub-client.js';
import { makeS3Client, type S3Settings } from './s3-client.js';

export interface StoreSettings {
  readonly s3: S3Settings;
  readonly hub: HubSettings;
}

export type StoreUri = Exclude<CheckpointUri, { readonly kind: 'folder' }>;

export interface OpenStore {
  readonly bytes: ByteSource;
  /** The place of the checkpoint, of which its pin is made. */
  readonly folder: CheckpointFolder;
  /** Ends reads that wait for a server that says nothing. Idempotent. */
  readonly disconnect: () => void;
}

/** @param signal disconnects too */
export function openStore(uri: StoreUri, settings: StoreSettings, signal: AbortSignal): OpenStore {
  const { bytes, folder, destroy } =
    uri.kind === 's3' ? openBucket(uri, settings.s3) : openHub(uri, settings.hub);
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

function openBucket(uri: StoreUri & { readonly kind: 's3' }, settings: S3Settings): Opened {
  const client = makeS3Client(settings);
  const prefix = uri.prefix.replace(/[^/]\/*$/, (end) => `${end.charAt(0)}/`);
  return {
    bytes: new S3ByteSource(client, uri.bucket, uri.prefix),
    folder: { endpoint: settings.endpoint, bucket: uri.bucket, prefix, file: uri.file },
    destroy: () => client.destroy(),
  };
}

function openHub({ place }: StoreUri & { readonly kind: 'hub' }, settings: HubSettings): Opened {
  const { fetch, destroy } = makeHubClient(settings);
  return {
    bytes: new HubByteSource({ endpoint: settings.endpoint, token: settings.token, fetch }, place),
    folder: hubFolder(settings.endpoint, place),
    destroy,
  };
}
