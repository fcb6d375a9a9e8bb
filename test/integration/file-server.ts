// A real web server (Debian's nginx) with folders of files and their lists: over HTTPS, over HTTP, and under a second name, which
// as storage refuses requests that bring a token.

import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Authority } from '../builders/certificates.js';
import { eventually, freePort, repository, start, stop } from '../processes.js';

export const listToken = 'a-token-of-lists';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Where a list lies, and its digest as sha256sum has it. */
export interface PutList {
  readonly path: string;
  readonly digest: string;
}

export class FileServer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly authority: Authority,
    private readonly ports: Ports,
  ) {}

  static async start(): Promise<FileServer> {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-files-'));
    const authority = new Authority('files');
    const { cert, key } = authority.issue('localhost');
    const ports = { https: await freePort(), http: await freePort(), storage: await freePort() };
    mkdirSync(join(folder, 'files'));
    writeFileSync(join(folder, 'tls.crt'), cert);
    writeFileSync(join(folder, 'tls.key'), key);
    writeFileSync(join(folder, 'nginx.conf'), configOf(folder, ports));
    const child = start(
      '/usr/sbin/nginx',
      ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'],
      join(folder, 'log'),
    );
    const server = new FileServer(child, folder, authority, ports);
    await eventually('the web server answers', () => server.answers());
    return server;
  }

  /** PEM, of its authority. */
  get certificate(): string {
    return this.authority.cert;
  }

  get https(): string {
    return `https://127.0.0.1:${String(this.ports.https)}`;
  }

  get http(): string {
    return `http://127.0.0.1:${String(this.ports.http)}`;
  }

  /** Of another name, to which `/moved/` leads. */
  get storage(): string {
    return `https://localhost:${String(this.ports.storage)}`;
  }

  /** Files and the list of them that the page's command writes. */
  put(name: string, files: Files): PutList {
    for (const [path, content] of Object.entries(files)) this.write(`${name}/${path}`, content);
    execFileSync('bash', ['-ec', listCommand()], { cwd: join(this.folder, 'files', name) });
    return this.listAt(`${name}/datapackage.json`);
  }

  /** A list of any content. */
  putList(path: string, content: string | object): PutList {
    this.write(path, typeof content === 'string' ? content : JSON.stringify(content));
    return this.listAt(path);
  }

  read(path: string): Buffer {
    return readFileSync(join(this.folder, 'files', path));
  }

  write(path: string, content: string | Uint8Array): void {
    const file = join(this.folder, 'files', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  remove(path: string): void {
    rmSync(join(this.folder, 'files', path));
  }

  /** Of each answer: HOST METHOD PATH STATUS RANGE TOKEN. */
  requests(): string[] {
    return readFileSync(join(this.folder, 'access'), 'utf8').trim().split('\n');
  }

  async stop(): Promise<void> {
    await stop(this.child);
    this.authority.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private listAt(path: string): PutList {
    return { path, digest: createHash('sha256').update(this.read(path)).digest('hex') };
  }

  private answers(): Promise<true | undefined> {
    return new Promise((resolve) => {
      request(`${this.https}/`, { ca: this.certificate }, (response) => {
        response.resume();
        resolve(true);
      })
        .on('error', () => resolve(undefined))
        .end();
    });
  }
}

interface Ports {
  readonly https: number;
  readonly http: number;
  readonly storage: number;
}

/** As the page says that a list is written. */
function listCommand(): string {
  const page = readFileSync(join(repository, 'deploy/docs/lists.md'), 'utf8');
  const command = /```sh\n([^`]*datapackage\.json[^`]*)```/.exec(page)?.[1];
  if (command === undefined) throw new Error('lists.md has no command that writes datapackage.json');
  return command;
}

function configOf(folder: string, { https, http, storage }: Ports): string {
  const tls = `ssl_certificate ${folder}/tls.crt; ssl_certificate_key ${folder}/tls.key;`;
  const own = (name: string): string => `location ~ ^/${name}/(.*)$`;
  return `
daemon off; master_process off; pid ${folder}/pid; user root;
events {}
http {
  log_format asked '$http_host $request_method $uri $status "$http_range" "$http_authorization"';
  access_log ${folder}/access asked;
  client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3;
  uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;
  default_type application/octet-stream;
  root ${folder}/files;
  server {
    listen 127.0.0.1:${String(https)} ssl; ${tls}
    ${own('private')} { if ($http_authorization != "Bearer ${listToken}") { return 401; } alias ${folder}/files/$1; }
    ${own('forbidden')} { return 403; }
    ${own('whole')} { max_ranges 0; alias ${folder}/files/$1; }
    ${own('moved')} { return 302 https://localhost:${String(storage)}/$1; }
    ${own('loop')} { return 302 /loop/$1; }
    ${own('plain')} { return 302 http://127.0.0.1:${String(http)}/$1; }
    ${own('metadata')} { return 302 https://169.254.169.254/$1; }
    ${own('busy')} { return 503; }
  }
  server { listen 127.0.0.1:${String(http)}; }
  server {
    listen 127.0.0.1:${String(storage)} ssl; ${tls}
    if ($http_authorization) { return 400; }
  }
}
`;
}
