// A real registry of container images (Debian's docker-registry) over a folder of its own, filled by the distribution API as
// clients do it: open to all, behind a password, or behind a token server.

import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort, start, stop } from '../processes.js';
import type { TokenServer } from './token-server.js';

export const registryUser = { username: 'tester', password: 'tester-secret' } as const;
/** The same by bcrypt. */
const passwordFile = 'tester:$2b$04$7EGPYeamjrZze2D6KU3WaeWmntxSNRgsUtqRs8g4cDrq/1acOitrq\n';

export interface LayerToPush {
  readonly mediaType: string;
  readonly content: Uint8Array;
  readonly annotations?: Readonly<Record<string, string>>;
}

export type RegistryAuth = 'none' | 'password' | TokenServer;

export interface RegistryPlace {
  readonly address: string;
  readonly enter: readonly string[];
}

export class RegistryServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly folder: string,
    /** HOST:PORT, as in URIs. */
    readonly host: string,
    private readonly authorization: (repository: string) => string | null,
  ) {}

  /** @param place where it listens: this machine alone, or a network of its own that a command leads into */
  static async start(
    auth: RegistryAuth = 'none',
    { address, enter }: RegistryPlace = { address: '127.0.0.1', enter: [] },
  ): Promise<RegistryServer> {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-registry-'));
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'passwords'), passwordFile);
    const host = `${address}:${String(await freePort())}`;
    const config = {
      version: 0.1,
      log: { level: 'error' },
      storage: { filesystem: { rootdirectory: join(folder, 'data') } },
      http: { addr: host },
      ...authConfig(auth, folder),
    };
    // JSON is YAML.
    writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
    const [program, ...args] = [...enter, 'docker-registry', 'serve', join(folder, 'config.yml')] as const;
    const child = start(program, args, join(folder, 'log'));
    const server = new RegistryServer(child, folder, host, (repository) => {
      if (auth === 'none') return null;
      if (auth !== 'password') return `Bearer ${auth.token(repository, ['pull', 'push'])}`;
      return `Basic ${Buffer.from(Object.values(registryUser).join(':')).toString('base64')}`;
    });
    await eventually('the registry answers', async () => {
      const { status } = await fetch(`http://${host}/v2/`);
      return status === 200 || status === 401 ? true : undefined;
    });
    return server;
  }

  async stop(): Promise<void> {
    await stop(this.child);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** @returns the digest of the manifest */
  async push(
    repository: string,
    tag: string,
    layers: readonly LayerToPush[],
    manifest: object = {},
  ): Promise<string> {
    const descriptors = [];
    for (const { mediaType, content, annotations } of layers) {
      const digest = await this.pushBlob(repository, content);
      descriptors.push({ mediaType, digest, size: content.byteLength, ...(annotations && { annotations }) });
    }
    const config = { mediaType: 'application/vnd.oci.empty.v1+json', size: 2 };
    return this.pushManifest(repository, tag, {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: { ...config, digest: await this.pushBlob(repository, Buffer.from('{}')) },
      layers: descriptors,
      ...manifest,
    });
  }

  async pushManifest(
    repository: string,
    tag: string,
    manifest: { readonly mediaType: string; readonly [key: string]: unknown },
  ): Promise<string> {
    const body = JSON.stringify(manifest);
    const answer = await this.send(repository, 'PUT', `/v2/${repository}/manifests/${tag}`, body, {
      'content-type': manifest.mediaType,
    });
    return answer.headers.get('docker-content-digest') ?? '';
  }

  /** Where the registry keeps a blob. */
  blobFile(digest: string): string {
    const hex = digest.slice('sha256:'.length);
    return join(this.folder, 'data/docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex, 'data');
  }

  async pushBlob(repository: string, content: Uint8Array): Promise<string> {
    const digest = digestOf(content);
    const begun = await this.send(repository, 'POST', `/v2/${repository}/blobs/uploads/`, '');
    const place = new URL(begun.headers.get('location') ?? '', `http://${this.host}`);
    place.searchParams.set('digest', digest);
    await this.send(repository, 'PUT', place.pathname + place.search, Buffer.from(content), {
      'content-type': 'application/octet-stream',
    });
    return digest;
  }

  private async send(
    repository: string,
    method: string,
    path: string,
    body: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const authorization = this.authorization(repository);
    const answer = await fetch(`http://${this.host}${path}`, {
      method,
      body,
      headers: { ...headers, ...(authorization === null ? {} : { authorization }) },
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
    return answer;
  }
}

function authConfig(auth: RegistryAuth, folder: string): object {
  if (auth === 'none') return {};
  if (auth === 'password') return { auth: { htpasswd: { realm: 'tests', path: join(folder, 'passwords') } } };
  writeFileSync(join(folder, 'token.pem'), auth.certificate);
  const { realm, service, issuer } = auth;
  return { auth: { token: { realm, service, issuer, rootcertbundle: join(folder, 'token.pem') } } };
}

export const digestOf = (content: Uint8Array): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Files as ModelPack has them without archives. */
export function rawLayers(files: Readonly<Record<string, string | Uint8Array>>): LayerToPush[] {
  return Object.entries(files).map(([path, content]) => ({
    mediaType: `application/vnd.cncf.model.weight${/\.(safetensors|gguf)$/.test(path) ? '' : '.config'}.v1.raw`,
    content: Buffer.from(content),
    annotations: { 'org.cncf.model.filepath': path },
  }));
}

/** What `kubectl create secret docker-registry` and `docker login` write. */
export function dockerConfig(host: string, { username, password }: Login = registryUser): string {
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  return JSON.stringify({ auths: { [host]: { auth } } });
}

interface Login {
  readonly username: string;
  readonly password: string;
}
