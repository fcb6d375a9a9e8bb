// What the operator and a pull say of the list of a folder that fails: `tsx s3-verdicts.ts ACCESS`, with ACCESS as JSON,
// prints both. A process of its own, since in Jest's realm the SDK takes errors of Node's core for none.

import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { S3ByteSource } from '@llmservice/checkpoint/s3';
import { FailureError } from '@llmservice/crds';
import type { WantedService } from '../../operator/src/domain/wanted-service.js';
import { AddressGuard, anyEndpoint } from '../../operator/src/preflight/address-guard.js';
import { openStores } from '../../operator/src/preflight/open-stores.js';
import { RemoteSource } from '../../runtime/src/weights/remote-source.js';
import { makeS3Client } from '../../runtime/src/weights/s3-client.js';
import { s3Keys } from './s3-server.js';

export interface Access {
  readonly endpoint: string;
  readonly bucket?: string;
  readonly keys?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly region?: string;
  /** PEM, of an authority. */
  readonly certificates?: string;
}

export interface Verdicts {
  readonly operator: { readonly reason: string; readonly message: string };
  /** The reason with which it ends, or the name of the error after which it tries again. */
  readonly pull: string;
}

export async function verdictsOf(access: Access): Promise<Verdicts> {
  const { endpoint, bucket = 'models', keys = s3Keys, region = 'us-east-1', certificates = null } = access;
  const model = {
    uri: 's3://models/p/',
    s3: { endpoint, region, forcePathStyle: true },
    hub: {},
    oci: { plainHttp: false },
  };
  const folders = openStores(
    { spec: { model, engine: { speculative: {} } } } as unknown as Pick<WantedService, 'spec'>,
    { credentials: keys, hubToken: null, dockerConfig: null, listToken: null, certificates },
    new AddressGuard(anyEndpoint),
  );
  const files = folders.at({ bucket, prefix: 'p/', file: null });
  const client = makeS3Client({
    ...{ endpoint, region, forcePathStyle: true, credentials: keys },
    caCertificates: certificates === null ? [] : [certificates],
  });
  const seen = await thrownBy(files.list());
  const pulled = await thrownBy(new RemoteSource(new S3ByteSource(client, bucket, 'p')).list());
  folders.close();
  client.destroy();
  if (!(seen instanceof FailureError)) throw seen;
  const { reason, message } = seen;
  return {
    operator: { reason, message },
    pull: pulled instanceof FailureError ? pulled.reason : pulled.name,
  };
}

async function thrownBy(list: Promise<unknown>): Promise<Error> {
  try {
    await list;
  } catch (error) {
    return error as Error;
  }
  return new Error('the list did not fail');
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  console.log(JSON.stringify(await verdictsOf(JSON.parse(argv[2] ?? '{}') as Access)));
}
