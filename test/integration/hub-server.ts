// A hub of models with the API of the Hugging Face Hub, as its public clients use it: revisions, pages of trees, files of git
// answered at once, large files by a redirect to storage on another host, and the names of its errors.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Files = Readonly<Record<string, string | Uint8Array>>;

interface Repository {
  readonly access: 'public' | 'private' | 'gated';
  /** By commit. */
  readonly commits: Map<string, Files>;
  /** Commits by the name of a branch or a tag. */
  readonly refs: Map<string, string>;
}

export const hubToken = 'hf_test_token';

export class HubServer {
  private readonly repositories = new Map<string, Repository>();
  /** Paths of storage that were signed for a read. */
  private readonly signed = new Map<string, Uint8Array>();
  private readonly hub: Server;
  private readonly storage: Server;
  /** Of a listing, entries of a page. */
  pageEntries = 1_000;
  /** Method and path of each request, in order. */
  readonly requests: string[] = [];
  /** What files are named by: as the tree has them, or as a mirror may. */
  etags: 'git' | 'own' = 'git';
  /** Where large files are said to be; null: in storage. */
  elsewhere: string | null = null;
  /** The file of which other bytes are given than the hub lists; null: none. */
  corrupt: string | null = null;
  /** What storage answers in place of a file, once each. */
  readonly storageFailures: number[] = [];

  private constructor() {
    this.hub = createServer((request, response) => this.answer(request, response));
    this.storage = createServer((request, response) => this.store(request, response));
  }

  static async start(): Promise<HubServer> {
    const server = new HubServer();
    for (const each of [server.hub, server.storage]) await once(each.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${String((this.hub.address() as AddressInfo).port)}`;
  }

  stop(): void {
    for (const server of [this.hub, this.storage]) {
      server.closeAllConnections();
      server.close();
    }
  }

  /** A commit with these files, to which `main` goes. */
  push(name: string, files: Files, access: Repository['access'] = 'public'): string {
    const repository = this.repositories.get(name) ?? { access, commits: new Map(), refs: new Map() };
    const commit = createHash('sha1').update(randomBytes(16)).digest('hex');
    repository.commits.set(commit, files);
    repository.refs.set('main', commit);
    this.repositories.set(name, repository);
    return commit;
  }

  tag(name: string, tag: string, commit: string): void {
    this.repositories.get(name)?.refs.set(tag, commit);
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.endpoint);
    this.requests.push(`${request.method ?? ''} ${url.pathname}`);
    const [, name = '', kind = '', path = ''] =
      /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/(.+)$/.exec(url.pathname) ??
      /^\/([^/]+\/[^/]+)\/(resolve)\/(.+)$/.exec(url.pathname) ??
      [];
    const [revision = '', ...parts] = path.split('/').map(decodeURIComponent);
    const repository = this.repositories.get(name);
    const isKnown = request.headers.authorization === `Bearer ${hubToken}`;
    if (repository === undefined || (repository.access === 'private' && !isKnown)) {
      refuse(response, isKnown ? 404 : 401, 'RepoNotFound', 'Repository not found');
      return;
    }
    if (repository.access === 'gated' && !isKnown && kind === 'resolve') {
      refuse(response, 403, 'GatedRepo', 'Access to this model is restricted');
      return;
    }
    const commit = repository.refs.get(revision) ?? revision;
    const files = repository.commits.get(commit);
    if (files === undefined) {
      refuse(response, 404, 'RevisionNotFound', 'Invalid rev id');
      return;
    }
    const below = parts.join('/');
    if (kind === 'revision') {
      json(response, { _id: 'x', id: name, sha: commit });
      return;
    }
    if (kind === 'tree') {
      this.list(response, url, files, below);
      return;
    }
    this.resolve(request, response, commit, files, below);
  }

  private list(response: ServerResponse, url: URL, files: Files, folder: string): void {
    const prefix = folder === '' ? '' : `${folder}/`;
    const isWhole = /^true$/i.test(url.searchParams.get('recursive') ?? '');
    const entries = new Map<string, object>();
    for (const [path, content] of Object.entries(files)) {
      if (!path.startsWith(prefix)) continue;
      const [first = '', ...rest] = path.slice(prefix.length).split('/');
      const isBelow = rest.length > 0;
      const at = prefix + first;
      if (isBelow) entries.set(at, { type: 'directory', oid: gitName(at), size: 0, path: at });
      if (!isBelow || isWhole) entries.set(path, entryOf(path, content));
    }
    if (entries.size === 0 && folder !== '') {
      refuse(response, 404, 'EntryNotFound', 'Entry not found');
      return;
    }
    const begin = Number(url.searchParams.get('cursor') ?? 0);
    const page = [...entries.values()].slice(begin, begin + this.pageEntries);
    if (begin + page.length < entries.size) {
      const next = new URL(url);
      next.searchParams.set('cursor', String(begin + page.length));
      response.setHeader('link', `<${next.href}>; rel="next"`);
    }
    json(response, page);
  }

  private resolve(
    request: IncomingMessage,
    response: ServerResponse,
    commit: string,
    files: Files,
    path: string,
  ): void {
    const content = files[path];
    if (content === undefined) {
      refuse(response, 404, 'EntryNotFound', 'Entry not found');
      return;
    }
    const bytes = Buffer.from(content);
    const given = path === this.corrupt ? flipped(bytes) : bytes;
    response.setHeader('x-repo-commit', commit);
    if (!isLarge(path)) {
      response.setHeader('etag', this.etags === 'git' ? `"${gitName(content)}"` : 'W/"1-2"');
      send(request, response, given);
      return;
    }
    const digest = sha256(bytes);
    const place = `/${randomBytes(8).toString('hex')}`;
    this.signed.set(place, given);
    const { port } = this.storage.address() as AddressInfo;
    response.writeHead(302, {
      ...(this.etags === 'git' ? { 'x-linked-etag': `"${digest}"` } : {}),
      'x-linked-size': bytes.length,
      location: this.elsewhere ?? `http://localhost:${String(port)}${place}?signature=${digest.slice(0, 8)}`,
    });
    response.end();
  }

  private store(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://storage');
    const bytes = this.signed.get(pathname);
    const failure = this.storageFailures.shift();
    if (failure !== undefined) return void response.writeHead(failure).end('<Error/>');
    // As object storage: what is signed comes without a token.
    if (bytes === undefined || request.headers.authorization !== undefined || !searchParams.has('signature'))
      return void response.writeHead(400).end('<Error><Code>InvalidArgument</Code></Error>');
    response.setHeader('etag', `"${randomBytes(8).toString('hex')}"`);
    send(request, response, bytes);
  }
}

/** The last byte, which is of a weight. */
function flipped(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.set([(copy.at(-1) ?? 0) ^ 1], copy.length - 1);
  return copy;
}

function send(request: IncomingMessage, response: ServerResponse, bytes: Uint8Array): void {
  const [, begin, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (begin === undefined) return void response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  const end = Math.min(Number(last) + 1, bytes.length);
  if (Number(begin) >= bytes.length) return void response.writeHead(416).end();
  response.writeHead(206, {
    'content-length': end - Number(begin),
    'content-range': `bytes ${begin}-${String(end - 1)}/${String(bytes.length)}`,
  });
  response.end(bytes.subarray(Number(begin), end));
}

function entryOf(path: string, content: string | Uint8Array): object {
  const bytes = Buffer.from(content);
  const entry = { type: 'file', oid: gitName(content), size: bytes.length, path };
  return isLarge(path)
    ? { ...entry, lfs: { oid: sha256(bytes), size: bytes.length, pointerSize: 134 } }
    : entry;
}

const isLarge = (path: string): boolean => /\.(safetensors|gguf|bin)$/.test(path);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Of a blob in git. */
function gitName(content: string | Uint8Array): string {
  const bytes = Buffer.from(content);
  return createHash('sha1')
    .update(`blob ${String(bytes.length)}\0`)
    .update(bytes)
    .digest('hex');
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'x-error-code': code, 'x-error-message': message });
  response.end(JSON.stringify({ error: message }));
}
