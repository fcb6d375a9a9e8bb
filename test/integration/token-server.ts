// A token server of a registry, as https://distribution.github.io/distribution/spec/auth/jwt/ has it: who gives a known
// password, or nobody for what is public, gets a signed token for one repository.

import { createSign, randomUUID, X509Certificate } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const lifeSeconds = 300;

export class TokenServer {
  readonly service = 'registry.tests';
  readonly issuer = 'tests';
  /** In order: the scope, and whether a password came along. */
  readonly asked: { readonly scope: string; readonly isNamed: boolean }[] = [];

  private constructor(
    private readonly server: Server,
    private readonly login: { readonly username: string; readonly password: string },
    private readonly key: string,
    /** PEM */
    readonly certificate: string,
  ) {}

  static async start(login: TokenServer['login']): Promise<TokenServer> {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-token-'));
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const subject = ['-subj', '/CN=token-server', '-days', '2'];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate];
    execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' });
    const texts = [readFileSync(key, 'utf8'), readFileSync(certificate, 'utf8')] as const;
    rmSync(folder, { recursive: true });
    const server = createServer((request, response) => tokens.answer(request, response));
    const tokens = new TokenServer(server, login, ...texts);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return tokens;
  }

  get realm(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}/token`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  token(repository: string, actions: readonly string[]): string {
    const x5c = [new X509Certificate(this.certificate).raw.toString('base64')];
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      ...{ iss: this.issuer, sub: 'tester', aud: this.service, jti: randomUUID() },
      ...{ iat: now, nbf: now - 10, exp: now + lifeSeconds },
      access: [{ type: 'repository', name: repository, actions }],
    };
    const parts = [{ typ: 'JWT', alg: 'RS256', x5c }, claims];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(this.key, 'base64url')}`;
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = new URL(request.url ?? '/', this.realm);
    const scope = searchParams.get('scope') ?? '';
    const { authorization } = request.headers;
    this.asked.push({ scope, isNamed: authorization !== undefined });
    const known = `Basic ${Buffer.from(`${this.login.username}:${this.login.password}`).toString('base64')}`;
    if (authorization !== undefined && authorization !== known)
      return void response.writeHead(401).end('{"details":"incorrect username or password"}');
    const [, repository = '', actions = ''] = /^repository:([^:]+):(.*)$/.exec(scope) ?? [];
    // Nobody gets a token too, which is good for what is public alone.
    const allowed = authorization === known || repository.startsWith('public/') ? actions.split(',') : [];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ token: this.token(repository, allowed), expires_in: lifeSeconds }));
  }
}
