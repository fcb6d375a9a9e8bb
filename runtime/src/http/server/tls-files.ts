// The certificate that the server shows, and the authorities whose clients it takes, as files that may change while it
// runs: Kubernetes exchanges the files of a mounted Secret when the Secret changes.

import { FailureError } from '@llmservice/crds';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { parseCertificates, parseKey } from './pem.js';

/** PEM texts. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Only clients with a certificate of these authorities are answered; undefined: any client is. */
  readonly ca: string | undefined;
}

/** Names in a Secret of type kubernetes.io/tls. */
const certName = 'tls.crt';
const keyName = 'tls.key';
/** Not ca.crt: issuers write their own authority there, which asks nothing of clients. */
const clientCaName = 'client-ca.crt';

/**
 * @throws FailureError CertificateInvalid when a file is missing, empty, half written or no PEM, or the key is not the
 * certificate's
 */
export function readTlsFiles(folder: string): TlsFiles {
  const files = {
    cert: read(folder, certName),
    key: read(folder, keyName),
    ca: readOptional(folder, clientCaName),
  };
  // Those between it and the root come behind the server's own.
  const [leaf] = use(folder, certName, () => parseCertificates(files.cert));
  const key = use(folder, keyName, () => parseKey(files.key));
  use(folder, keyName, () => {
    if (!leaf.checkPrivateKey(key))
      throw new Error(`it is not the key of the first certificate in ${certName}`);
  });
  const { ca } = files;
  // An empty one would mean to Node: every authority that it knows, the public ones.
  if (ca !== undefined) use(folder, clientCaName, () => parseCertificates(ca));
  use(folder, `${certName}, ${keyName} or ${clientCaName}`, () => createSecureContext(files));
  return files;
}

export function areSame(one: TlsFiles, other: TlsFiles): boolean {
  return one.cert === other.cert && one.key === other.key && one.ca === other.ca;
}

function read(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch (error) {
    throw refusal(folder, `${name} cannot be read`, error);
  }
}

function readOptional(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw refusal(folder, `${name} cannot be read`, error);
  }
}

function use<T>(folder: string, name: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw refusal(folder, `${name} cannot be used`, error);
  }
}

function refusal(folder: string, what: string, cause: unknown): FailureError {
  const message =
    `TLS is asked for (--tls-dir ${folder}), but ${what}: ${(cause as Error).message}; the folder needs ${certName} and ` +
    `${keyName} in PEM, whole, unencrypted and of one key pair, and may have ${clientCaName}`;
  return new FailureError('CertificateInvalid', message, undefined, { cause });
}
