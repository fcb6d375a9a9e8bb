// One folder of an artifact in a registry as a folder of files. The tag is resolved to a manifest once: all files are of that
// one, whatever is pushed meanwhile. What is addressed by a digest is compared with it.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ByteSource, FileVersion, OpenRange } from '../byte-source.js';
import type { ListedFile } from '../checkpoint-pin.js';
import { bytesOf, StoragePlaces, StoreHttpError, type Got } from '../http/http-client.js';
import { readRangeAnswer } from '../range-answer.js';
import { artifactFiles, type ArtifactFile } from './artifact-files.js';
import { indexTypes, layersIn, manifestTypes, type Layer } from './artifact-manifest.js';
import { ociUri, type OciPlace } from './oci-uri.js';
import type { Compression } from './expanded.js';
import { RegistryClient, type RegistryAccess } from './registry-client.js';
import { UnpackedLayer, UnpackShare } from './unpacked-layer.js';

interface OciBounds {
  /** Of compressed layers: whether all of them are read and compared before their files are listed; their headers alone by default. */
  readonly look?: 'whole' | 'headers';
  /** So many bytes of compressed layers' content are read, in all passes of all of them. */
  readonly maxUnpackedBytes?: number;
  /** Called as bytes of compressed layers come. */
  readonly onBytes?: () => void;
  /** Ends requests; a body that has begun is its reader's to end. */
  readonly signal?: AbortSignal;
}

type Files = ReadonlyMap<string, ArtifactFile>;

interface Artifact {
  readonly files: Files;
  /** Of the manifest: sha256:HEX. */
  readonly digest: string;
}

/** Registries take none that is longer. */
const maxManifestBytes = 4 * 1024 * 1024;
/** Of the registry: what lies in storage may be there again. */
const gone = 404;

export class OciByteSource implements ByteSource {
  readonly kind = 'oci';
  readonly uri: string;
  private readonly client: RegistryClient;
  private readonly places: StoragePlaces;
  private readonly share: UnpackShare;
  private looking: Promise<Artifact> | null = null;

  constructor(
    access: RegistryAccess,
    private readonly place: OciPlace,
    private readonly bounds: OciBounds = {},
  ) {
    this.uri = ociUri(place);
    this.client = new RegistryClient(access, place.repository, bounds.signal);
    this.places = new StoragePlaces(this.client.origin);
    const { look = 'headers', maxUnpackedBytes = Infinity } = bounds;
    this.share = new UnpackShare(maxUnpackedBytes, look === 'headers');
  }

  async list(): Promise<ListedFile[]> {
    return [...(await this.files())].map(([name, { bytes, version }]) => ({ name, bytes, version }));
  }

  async version(name: string): Promise<FileVersion> {
    const { layer, begin, bytes, version, digest, unpacked } = await this.file(name);
    const stream = unpacked === null ? {} : { stream: { id: layer, begin } };
    return { name, bytes, etag: version, digest, ...stream };
  }

  async open(name: string, begin: number, end: number): Promise<OpenRange> {
    const file = await this.file(name);
    if (begin >= file.bytes) throw new StoreHttpError('RangeNotThere', 416, `${name} ends before`);
    const from = file.begin + begin;
    const { unpacked } = file;
    if (unpacked !== null) {
      const until = Math.min(end, file.bytes);
      await unpacked.seek(from);
      const body = Readable.from(unpacked.read(from, file.begin + until), { objectMode: false });
      return {
        begin,
        end: until,
        fileBytes: file.bytes,
        etag: file.version,
        answer: 'a compressed layer',
        body,
      };
    }
    const range = await this.blob(file.layer, from, file.begin + Math.min(end, file.bytes));
    return {
      ...range,
      // A whole layer in answer to a range of it begins before the file does.
      begin: range.begin - file.begin,
      end: range.end === null ? null : range.end - file.begin,
      fileBytes: file.bytes,
      etag: file.version,
    };
  }

  /** By which container tools name the artifact that the files are of. */
  async manifestDigest(): Promise<string> {
    return (await this.artifact()).digest;
  }

  private async file(name: string): Promise<ArtifactFile> {
    const file = (await this.files()).get(name);
    if (file === undefined) throw new StoreHttpError('FileAbsent', 404, `${this.uri} has no file ${name}`);
    return file;
  }

  private async files(): Promise<Files> {
    return (await this.artifact()).files;
  }

  private artifact(): Promise<Artifact> {
    this.looking ??= this.look().catch((error: unknown) => {
      this.looking = null;
      throw error;
    });
    return this.looking;
  }

  private async look(): Promise<Artifact> {
    const { manifest, digest } = await this.manifest();
    const part = (layer: Layer, begin: number, end: number): Promise<Buffer> => this.part(layer, begin, end);
    const files = await artifactFiles(layersIn(manifest), this.place.folder, part, {
      unpack: (layer, compression) => this.unpacked(layer, compression),
      look: this.bounds.look ?? 'headers',
    });
    return { files, digest };
  }

  private unpacked({ digest, bytes }: Layer, compression: Compression): UnpackedLayer {
    const { onBytes = (): void => undefined } = this.bounds;
    const download = async (): Promise<Readable> => (await this.blob(digest, 0, bytes)).body;
    return new UnpackedLayer({ bytes, compression, download, share: this.share, onBytes });
  }

  private async manifest(): Promise<{ readonly manifest: Buffer; readonly digest: string }> {
    const { reference } = this.place;
    const accept = [...manifestTypes, ...indexTypes].join(', ');
    const { answer, body } = await this.client.get(this.client.url(`manifests/${reference}`), { accept });
    const manifest = await bytesOf(body, maxManifestBytes);
    const expected = reference.includes(':') ? reference : answer.headers.get('docker-content-digest');
    const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
    if (expected?.startsWith('sha256:') === true && expected !== digest)
      throw new StoreHttpError('DigestMismatch', null, `the manifest ${expected} has the digest ${digest}`);
    return { manifest, digest };
  }

  private async part({ digest }: Layer, begin: number, end: number): Promise<Buffer> {
    const range = await this.blob(digest, begin, end);
    if (range.begin !== begin) {
      range.body.destroy();
      throw new StoreHttpError(
        'RangeNotHonoured',
        null,
        `asked for a range, the registry gave ${range.answer}`,
      );
    }
    const chunks: Buffer[] = [];
    let count = 0;
    for await (const chunk of range.body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      count += chunk.byteLength;
      if (count >= end - begin) break;
    }
    if (count < end - begin) throw new StoreHttpError('ECONNRESET', null, 'an answer ended before its end');
    return Buffer.concat(chunks, end - begin);
  }

  private async blob(digest: string, begin: number, end: number): Promise<Omit<OpenRange, 'etag'>> {
    const headers = { range: `bytes=${String(begin)}-${String(end - 1)}`, 'accept-encoding': 'identity' };
    const fresh = (): Promise<Got> =>
      this.client.get(this.client.url(`blobs/${digest}`), headers).catch((error: unknown) => {
        // The manifest that names it is not read again, by whatever code it is missed.
        throw error instanceof StoreHttpError && error.$metadata.httpStatusCode === gone
          ? new StoreHttpError('BLOB_UNKNOWN', gone, `the registry has no layer ${digest}`)
          : error;
      });
    const { answer, body } = await this.places.get(
      digest,
      (known) => this.client.request(known, headers),
      fresh,
    );
    const length = answer.headers.get('content-length');
    const contentRange = answer.headers.get('content-range') ?? undefined;
    const range = readRangeAnswer(answer.status, contentRange, length === null ? undefined : Number(length));
    return { ...range, body: Readable.fromWeb(body) };
  }
}
