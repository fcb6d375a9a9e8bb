import { createPrivateKey, X509Certificate } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { selfSignedCertificate } from './self-signed-certificate.js';

const names = ['llmservice-operator-conversion.llmservice-system.svc', '127.0.0.1'];
const wish = {
  names,
  notBefore: new Date('2030-01-02T03:04:05Z'),
  notAfter: new Date('2051-02-03T04:05:06Z'),
};

describe('a certificate of one’s own', () => {
  const { cert, key } = selfSignedCertificate(wish);
  const read = new X509Certificate(cert);

  test('is for its names and for no other', () => {
    expect(read.checkHost(names[0] ?? '')).toBe(names[0]);
    expect(read.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(read.checkHost('other.llmservice-system.svc')).toBeUndefined();
  });

  test('is valid from and to what is asked for, to the second, before and after 2050', () => {
    expect(read.validFromDate).toEqual(wish.notBefore);
    expect(read.validToDate).toEqual(wish.notAfter);
  });

  test('is signed by its own key, and is no authority', () => {
    expect(read.verify(read.publicKey)).toBe(true);
    expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(read.ca).toBe(false);
  });

  test('is another one each time', () => {
    expect(new X509Certificate(selfSignedCertificate(wish).cert).serialNumber).not.toBe(read.serialNumber);
  });

  test('is verified by openssl as that of a server', () => {
    const now = Date.now();
    const day = 86_400_000;
    const current = selfSignedCertificate({
      names: Array.from({ length: 40 }, (_, index) => `${String(index)}.${'n'.repeat(50)}.svc`),
      notBefore: new Date(now - day),
      notAfter: new Date(now + day),
    });
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-certificate-'));
    const file = join(folder, 'tls.crt');
    writeFileSync(file, current.cert);
    const rules = ['-x509_strict', '-purpose', 'sslserver', '-partial_chain'];
    const checked = execFileSync('openssl', ['verify', ...rules, '-trusted', file, file], { stdio: 'pipe' });
    rmSync(folder, { recursive: true });
    expect(checked.toString()).toContain('OK');
  });
});
