// Which files of a TLS folder are taken, and what is said of those that are not.

import { FailureError } from '@llmservice/crds';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../log/logger.js';
import { selfSigned } from './certificate.fixture.js';
import { readTlsFiles } from './tls-files.js';
import { TlsReload } from './tls-reload.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmservice-tls-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const { cert, key } = selfSigned;
const format = { type: 'pkcs8', format: 'pem' } as const;
const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(format);
const keyOfAnotherType = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(format);
const encryptedKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  ...format,
  cipher: 'aes-256-cbc',
  passphrase: 'secret',
});
const half = cert.slice(0, cert.length / 2);
const garbled = cert.replace('MII', 'MIJ');

function put(files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key, ...files }))
    writeFileSync(join(folder, name), text);
}

const unusable: [string, Record<string, string | Buffer>, string][] = [
  ['an empty certificate', { 'tls.crt': '' }, 'tls.crt cannot be used: it is empty'],
  ['a certificate that is none', { 'tls.crt': 'x' }, 'tls.crt cannot be used: it holds no certificate'],
  ['half a certificate', { 'tls.crt': half }, 'tls.crt cannot be used: it is half written'],
  ['a chain that breaks off', { 'tls.crt': cert + half }, 'tls.crt cannot be used: it is half written'],
  ['a garbled chain', { 'tls.crt': cert + garbled }, 'tls.crt cannot be used: certificate 2 in it is none'],
  ['an empty key', { 'tls.key': '' }, 'tls.key cannot be used: it is empty'],
  ['a key that is none', { 'tls.key': cert }, 'tls.key cannot be used: it holds no private key'],
  ['an encrypted key', { 'tls.key': encryptedKey }, 'tls.key cannot be used: it is encrypted'],
  ['the key of another', { 'tls.key': otherKey }, 'tls.key cannot be used: it is not the key of the first'],
  ['a key of another type', { 'tls.key': keyOfAnotherType }, 'tls.key cannot be used: it is not the key of'],
  ['empty authorities', { 'client-ca.crt': ' \n' }, 'client-ca.crt cannot be used: it is empty'],
  ['authorities that are none', { 'client-ca.crt': 'x' }, 'client-ca.crt cannot be used: it holds no cert'],
  ['a key for authorities', { 'client-ca.crt': key }, 'client-ca.crt cannot be used: it holds no cert'],
  ['half an authority', { 'client-ca.crt': half }, 'client-ca.crt cannot be used: it is half written'],
  [
    'an authority and half of one',
    { 'client-ca.crt': cert + half },
    'client-ca.crt cannot be used: it is half',
  ],
  [
    'half of one and an authority',
    { 'client-ca.crt': half + '\n' + cert },
    'client-ca.crt cannot be used: it is',
  ],
  ['a garbled authority', { 'client-ca.crt': garbled }, 'client-ca.crt cannot be used: certificate 1 in it'],
];

test.each(unusable)('%s cannot be used at the start', (_, files, message) => {
  put(files);
  expect(() => readTlsFiles(folder)).toThrow(FailureError);
  expect(() => readTlsFiles(folder)).toThrow(message);
  expect(() => readTlsFiles(folder)).toThrow('the folder needs tls.crt and tls.key in PEM');
});

test.each([
  ['a pair', {}],
  ['a chain', { 'tls.crt': cert + cert }],
  ['texts around certificates', { 'tls.crt': `subject=CN = localhost\n${cert}the end\n` }],
  ['lines as Windows ends them', { 'tls.crt': cert.replaceAll('\n', '\r\n') }],
  ['the key behind the certificate', { 'tls.crt': cert + key }],
  ['several authorities', { 'client-ca.crt': cert + cert }],
])('%s can be used', (_, files) => {
  put(files);
  expect(readTlsFiles(folder)).toMatchObject({
    cert,
    key,
    ...('tls.crt' in files && { cert: files['tls.crt'] }),
  });
});

test.each(unusable)('%s, come while it serves: the last good ones stay', (_, files, message) => {
  jest.useFakeTimers();
  put({ 'client-ca.crt': cert });
  const setSecureContext = jest.fn();
  const [warn, info] = [jest.fn(), jest.fn()];
  const reload = new TlsReload(
    { setSecureContext } as unknown as Server,
    folder,
    readTlsFiles(folder),
    { warn, info } as unknown as Logger,
    100,
  );
  put(files);
  jest.advanceTimersByTime(500);
  expect(setSecureContext).not.toHaveBeenCalled();
  expect(warn.mock.calls).toEqual([
    ['TLS files not taken; the last good ones stay', { cause: expect.stringContaining(message) as unknown }],
  ]);
  put({ 'tls.crt': cert + cert, 'client-ca.crt': cert });
  jest.advanceTimersByTime(100);
  expect(setSecureContext).toHaveBeenCalledTimes(1);
  reload.stop();
  jest.useRealTimers();
});
