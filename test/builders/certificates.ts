// Certificates of a throw-away authority, by openssl: what cert-manager would put into a Secret.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ecKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export class Authority {
  private readonly folder = mkdtempSync(join(tmpdir(), 'llmservice-authority-'));

  constructor(name: string) {
    this.openssl('req', '-x509', ...ecKey, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', `/CN=${name}`);
  }

  /** Its own certificate. */
  get cert(): string {
    return this.read('ca.crt');
  }

  /** For server and client, under the name and at the address. */
  issue(name: string, address = '127.0.0.1'): Certificate {
    writeFileSync(join(this.folder, 'extensions'), `subjectAltName=DNS:${name},IP:${address}\n`);
    this.openssl('req', '-new', ...ecKey, '-keyout', 'one.key', '-out', 'one.csr', '-subj', `/CN=${name}`);
    const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
    this.openssl('x509', '-req', '-in', 'one.csr', ...signing, '-extfile', 'extensions', '-out', 'one.crt');
    return { cert: this.read('one.crt'), key: this.read('one.key') };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  private openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.folder, stdio: 'pipe' });
  }
}
