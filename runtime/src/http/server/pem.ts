// What Node leaves out when it takes PEM texts for TLS. It passes over an empty one. Of authorities it takes the whole
// ones and drops the half of another. It compares a key with a certificate only where both are of one type.

import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

/** As a block begins, whole or not. */
const begin = /^-----BEGIN /gm;
/** A whole block: its text, and what it is. */
const block = /^-----BEGIN ([^-\r\n]+)-----.*?^-----END \1-----/gms;
/** As OpenSSL names a certificate. */
const certificateLabels = ['CERTIFICATE', 'X509 CERTIFICATE', 'TRUSTED CERTIFICATE'];

/**
 * At least one.
 * @throws Error when there is none, or a block is not whole or no certificate
 */
export function parseCertificates(text: string): readonly [X509Certificate, ...X509Certificate[]] {
  requireText(text);
  const whole = [...text.matchAll(block)];
  if (whole.length < (text.match(begin)?.length ?? 0))
    throw new Error('it is half written: a block has no end');
  const [first, ...others] = whole.flatMap(([pem, label = '']) =>
    certificateLabels.includes(label) ? [pem] : [],
  );
  if (first === undefined) throw new Error('it holds no certificate in PEM');
  return [parseCertificate(first, 0), ...others.map((pem, index) => parseCertificate(pem, index + 1))];
}

/** @throws Error when it is none, or is encrypted */
export function parseKey(text: string): KeyObject {
  requireText(text);
  try {
    return createPrivateKey(text);
  } catch (error) {
    const isEncrypted = /^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text);
    if (isEncrypted) throw new Error('it is encrypted: write it without a passphrase', { cause: error });
    throw new Error(`it holds no private key in PEM (${(error as Error).message})`, { cause: error });
  }
}

function parseCertificate(pem: string, index: number): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    const message = `certificate ${String(index + 1)} in it is none (${(error as Error).message})`;
    throw new Error(message, { cause: error });
  }
}

function requireText(text: string): void {
  if (text.trim() === '') throw new Error('it is empty');
}
