// A certificate of its own for a server (X.509 v3, ECDSA on P-256), in DER as RFC 5280 has it: Node signs, and makes no
// certificates. Who is to trust it is given the certificate itself; it can sign no other. @peculiar/x509 would do it with 21
// packages, one of which changes the global Reflect, and 16 MiB that stay (61 MiB resident instead of 46; 59 with
// @peculiar/asn1-x509 alone): for the few kinds of values here, which openssl and the API server check in tests.

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** PEM texts. */
export interface KeyedCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateWish {
  /** DNS names and IPv4 addresses. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

const ids = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  subjectAltName: '2.5.29.17',
} as const;

export function selfSignedCertificate({ names, notBefore, notAfter }: CertificateWish): KeyedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectId(ids.ecdsaWithSha256));
  // Of its own: a verifier that is given two of one name may try the wrong one.
  const commonName = `llmservice-conversion-${randomBytes(8).toString('hex')}`;
  const name = sequence(der(0x31, sequence(objectId(ids.commonName), der(0x0c, Buffer.from(commonName)))));
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    serialNumber(),
    algorithm,
    name,
    sequence(time(notBefore), time(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions(names)),
  );
  const certificate = sequence(signed, algorithm, bitString(sign('sha256', signed, privateKey)));
  const lines = certificate.toString('base64').replaceAll(/.{1,64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function extensions(names: readonly string[]): Buffer {
  const critical = der(0x01, Buffer.of(0xff));
  const digitalSignature = der(0x03, Buffer.of(7, 0x80));
  return sequence(
    extension(ids.basicConstraints, sequence(), critical), // no authority
    extension(ids.keyUsage, digitalSignature, critical),
    extension(ids.extendedKeyUsage, sequence(objectId(ids.serverAuth))),
    extension(ids.subjectAltName, sequence(...names.map(generalName))),
  );
}

const extension = (id: string, value: Buffer, ...critical: Buffer[]): Buffer =>
  sequence(objectId(id), ...critical, der(0x04, value));

const generalName = (name: string): Buffer =>
  isIP(name) === 4
    ? der(0x87, Buffer.from(name.split('.').map(Number)))
    : der(0x82, Buffer.from(name, 'ascii'));

/** Tag, length in the short or the long form, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const length = Buffer.from(content.length.toString(16).replace(/^(?=(..)*.$)/, '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const bitString = (bits: Uint8Array): Buffer => der(0x03, Buffer.of(0), bits);

/** Positive, and without a leading zero. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = 0x40 | ((bytes[0] ?? 0) & 0x3f);
  return der(0x02, bytes);
}

/** Base 128, the first two numbers in one byte. */
function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const base128 = (value: number): number[] => {
    const digits = [value & 0x7f];
    for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f));
    return digits;
  };
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** UTCTime up to 2049, GeneralizedTime after. */
function time(at: Date): Buffer {
  const text = `${at.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`;
  return at.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}
