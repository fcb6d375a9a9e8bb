// A real S3 server (signatures, ranges, error codes) over a folder of its own.

import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { eventually, freePort, start, stop, toolFolders } from '../processes.js';

export const s3Keys = { accessKeyId: 'tester', secretAccessKey: 'tester-secret' } as const;

/** The same, as a replica takes them. */
export const s3Environment = {
  AWS_ACCESS_KEY_ID: s3Keys.accessKeyId,
  AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey,
} as const;

export class S3Server {
  private child: ChildProcess | null = null;

  private constructor(
    private readonly program: string,
    private readonly folder: string,
    private readonly port: number,
    private readonly keepsEtags: boolean,
  ) {}

  /** @param keepsEtags as S3 does, which conditional writes need; the files' system must have extended attributes */
  static async start({ keepsEtags = false } = {}): Promise<S3Server> {
    const [programs = ''] = toolFolders('versitygw');
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-s3-'));
    mkdirSync(join(folder, 'data'));
    const server = new S3Server(join(programs, 'versitygw'), folder, await freePort(), keepsEtags);
    await server.resume();
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Puts files under `bucket/prefix`. */
  put(bucket: string, prefix: string, files: Readonly<Record<string, string | Uint8Array>>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.folder, 'data', bucket, prefix, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }

  /** Puts a file of any size that takes no room on the disk: `head`, then zeros. */
  putSparse(bucket: string, prefix: string, name: string, head: Uint8Array, bytes: number): void {
    this.put(bucket, prefix, { [name]: head });
    truncateSync(join(this.folder, 'data', bucket, prefix, name), bytes);
  }

  remove(bucket: string, path: string): void {
    rmSync(join(this.folder, 'data', bucket, path));
  }

  /** Takes the server away; its data stays. */
  async pause(): Promise<void> {
    if (this.child !== null) await stop(this.child, 'SIGKILL');
  }

  async resume(): Promise<void> {
    this.child = start(
      this.program,
      [
        '--port',
        `127.0.0.1:${this.port}`,
        '--quiet',
        'posix',
        ...(this.keepsEtags ? [] : ['--nometa']),
        join(this.folder, 'data'),
      ],
      join(this.folder, 'versitygw.log'),
      { ROOT_ACCESS_KEY: s3Keys.accessKeyId, ROOT_SECRET_KEY: s3Keys.secretAccessKey },
    );
    await eventually('the S3 server', async () => (await fetch(this.endpoint)).status > 0);
  }

  async stop(): Promise<void> {
    await this.pause();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
