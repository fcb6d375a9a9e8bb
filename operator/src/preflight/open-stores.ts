// The folders of one service's checkpoints in its stores, once what is given for reaching these is known. They share one
// client of each store with the service's own credentials, for one preflight.

import http from 'node:http';
import https from 'node:https';
import { rootCertificates } from 'node:tls';
import { S3Client } from '@aws-sdk/client-s3';
import { S3ByteSource } from '@llmservice/checkpoint/s3';
import { HubByteSource } from '@llmservice/checkpoint/hub';
import { bindListToken, ListByteSource, type ListPlace } from '@llmservice/checkpoint/list';
import { credentialsFor, OciByteSource, registryEndpoint, type OciPlace } from '@llmservice/checkpoint/oci';
import type { ByteSource } from '@llmservice/checkpoint';
import type { CheckpointLocation, WantedService } from '../domain/wanted-service.js';
import { hubAccess, ociAccess, s3Access, type S3Access } from '../resource/store-access.js';
import type { AddressGuard, Lookup } from './address-guard.js';
import { boundAnswers, pageFiles } from './bound-answers.js';
import { BoundedFiles } from './bounded-files.js';
import { makeHttpClient } from './http-client.js';
import type { OpenFolders } from './judge-checkpoint.js';
import type { StoreSecrets } from './service-secrets.js';

/** A folder with more than 10,000 files is no checkpoint's. */
const maxPages = 40;
/** Of the content of a compressed layer, which is read from its start alone. */
const maxUnpackedBytes = 2 ** 30;
/** Of 1,000 files each. */
const maxHubPages = 10;

export function openStores(
  service: Pick<WantedService, 'spec'>,
  secrets: StoreSecrets,
  guard: AddressGuard,
): OpenFolders {
  const closing = new AbortController();
  const { signal } = closing;
  const closers: (() => void)[] = [];
  const bucketAt = once(() => {
    const access = s3Access(service);
    const client = makeClient(access, secrets, guard.lookupFor(access.endpoint));
    closers.push(() => client.destroy());
    return (bucket: string, prefix: string) =>
      new S3ByteSource(client, bucket, prefix, { pageFiles, maxPages, signal, google: access.google });
  });
  const hub = once(() => {
    const { endpoint } = hubAccess(service);
    const { fetch, destroy } = makeHttpClient(
      'spec.model.hub.endpoint',
      endpoint,
      secrets.certificates,
      guard,
    );
    closers.push(destroy);
    return { endpoint, token: secrets.hubToken, fetch };
  });
  const artifact = (place: OciPlace): ByteSource => {
    const endpoint = registryEndpoint(place.registry, ociAccess(service).plainHttp);
    const { fetch, destroy } = makeHttpClient('spec.model.uri', endpoint, secrets.certificates, guard);
    closers.push(destroy);
    const { dockerConfig } = secrets;
    const credentials = dockerConfig === null ? null : credentialsFor(place.registry, dockerConfig);
    return new OciByteSource({ endpoint, credentials, fetch }, place, { signal, maxUnpackedBytes });
  };
  const listed = (place: ListPlace): ByteSource => {
    const field = 'spec.model.uri';
    const { fetch, destroy } = makeHttpClient(field, place.list, secrets.certificates, guard);
    closers.push(destroy);
    const checkAddress = guard.hostsOf(field, place.list).checkHost;
    const access = { token: bindListToken(secrets.listToken, service.spec.model.uri), fetch };
    return new ListByteSource(access, place, { ranges: 'required', checkAddress, signal });
  };
  const open = (location: CheckpointLocation): ByteSource => {
    if ('claim' in location) throw new Error('pods alone read a claim');
    if ('registry' in location) return artifact(location);
    if ('list' in location) return listed(location);
    if ('repository' in location)
      return new HubByteSource(hub(), location, { maxPages: maxHubPages, signal });
    return bucketAt()(location.bucket, location.prefix);
  };
  // A tag or a branch is resolved once: what is judged is what is pinned.
  const opened = new Map<string, ByteSource>();
  const sourceAt = (location: CheckpointLocation): ByteSource => {
    const place = JSON.stringify(location);
    const source = opened.get(place) ?? open(location);
    opened.set(place, source);
    return source;
  };
  return {
    at: (location: CheckpointLocation) => new BoundedFiles(sourceAt(location), signal),
    imageDigest: async (location) => {
      const source = sourceAt(location);
      return source instanceof OciByteSource ? source.manifestDigest() : null;
    },
    /** Ends what is being read. */
    close: () => {
      closing.abort();
      for (const close of closers) close();
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

function makeClient(access: S3Access, { credentials, certificates }: StoreSecrets, lookup: Lookup): S3Client {
  // A connection is made to an address that this look-up gave, and to no other.
  const agentOptions = { keepAlive: true, lookup };
  const client = new S3Client({
    ...(access.endpoint === null ? {} : { endpoint: access.endpoint }),
    region: access.region,
    forcePathStyle: access.forcePathStyle,
    // Headers that ask for checksums of AWS are not for others.
    ...(access.google ? { responseChecksumValidation: 'WHEN_REQUIRED' } : {}),
    // Without credentials of the service requests go unsigned: the SDK's search for ambient ones must never start.
    ...(credentials === null
      ? {
          credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
          signer: { sign: (request) => Promise.resolve(request) },
        }
      : { credentials }),
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 4_000,
      // Without the third the second is but a warning in the log.
      requestTimeout: 10_000,
      throwOnRequestTimeout: true,
      socketTimeout: 10_000,
      httpAgent: new http.Agent(agentOptions),
      httpsAgent: new https.Agent({
        ...agentOptions,
        ...(certificates === null ? {} : { ca: [...rootCertificates, certificates] }),
      }),
    },
  });
  boundAnswers(client);
  return client;
}
