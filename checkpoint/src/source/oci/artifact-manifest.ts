// The manifest of an artifact: which layer holds which file, by the media types and annotations of ModelPack
// (https://github.com/modelpack/model-spec) and ORAS, or of images whose layers are archives.

import { StoreHttpError } from '../http/http-client.js';

export interface Layer {
  /** sha256:HEX */
  readonly digest: string;
  readonly bytes: number;
  readonly content:
    | { readonly kind: 'file'; readonly path: string }
    /** `path`: of its only file, where the manifest names that. */
    | { readonly kind: 'tar'; readonly compression: 'gzip' | 'zstd' | null; readonly path: string | null };
}

interface Descriptor {
  readonly mediaType?: unknown;
  readonly digest?: unknown;
  readonly size?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>> | null;
}

export const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
/** Asked for too, so that they are named and not missed. */
export const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

const titleKey = 'org.opencontainers.image.title';
/** By its present name, and by that of the first releases of the specification. */
const pathKeys = ['org.cncf.model.filepath', 'org.cnai.model.filepath'];
const unpackKey = 'io.deis.oras.content.unpack';

/** Layers that no checkpoint needs. */
const beside = /^application\/vnd\.c(ncf|nai)\.model\.(doc|code|dataset)\./;
const imageLayer = /^application\/vnd\.(oci\.image\.layer|docker\.image\.rootfs)\./;

/** A large checkpoint has some hundreds of files. */
const maxLayers = 1_000;

/** @throws StoreHttpError where it is no manifest of an artifact */
export function layersIn(manifest: Buffer): readonly Layer[] {
  let parsed: { readonly mediaType?: unknown; readonly layers?: unknown; readonly manifests?: unknown };
  try {
    parsed = (JSON.parse(manifest.toString('utf8')) ?? {}) as typeof parsed;
  } catch {
    throw new StoreHttpError('MANIFEST_INVALID', null, 'the manifest is not JSON');
  }
  if (Array.isArray(parsed.manifests))
    throw new StoreHttpError('IndexOfManifests', null, 'the reference leads to an index, not to an artifact');
  if (!Array.isArray(parsed.layers))
    throw new StoreHttpError('MANIFEST_INVALID', null, 'the manifest has no layers');
  if (parsed.layers.length > maxLayers)
    throw new StoreHttpError('TooManyFiles', null, `the artifact has more than ${String(maxLayers)} layers`);
  return (parsed.layers as readonly (Descriptor | null)[]).flatMap((each) => {
    const { mediaType, digest, size, annotations } = each ?? {};
    if (typeof mediaType !== 'string' || !isSize(size) || !isDigest(digest))
      throw new StoreHttpError('MANIFEST_INVALID', null, 'a layer has no media type, size or SHA-256');
    const content = beside.test(mediaType) ? null : contentOf(mediaType, annotations ?? {});
    return content === null ? [] : [{ digest, bytes: size, content }];
  });
}

/** Null: it has no name, and is no archive. */
function contentOf(
  mediaType: string,
  annotations: Readonly<Record<string, unknown>>,
): Layer['content'] | null {
  const title = annotations[titleKey];
  const path = [...pathKeys.map((key) => annotations[key]), title].find((each) => typeof each === 'string');
  // ORAS names files without a type of their own as if they were layers of images, and marks folders that it has packed.
  const isPlain = imageLayer.test(mediaType) && title !== undefined && annotations[unpackKey] !== 'true';
  const [, archive] = /[.+](tar(?:[+.](?:gzip|zstd))?)$/.exec(mediaType) ?? [];
  if (archive !== undefined && !isPlain) {
    const compression = archive.endsWith('gzip') ? 'gzip' : archive.endsWith('zstd') ? 'zstd' : null;
    return { kind: 'tar', compression, path: typeof path === 'string' ? path : null };
  }
  return typeof path === 'string' ? { kind: 'file', path } : null;
}

function isSize(size: unknown): size is number {
  return Number.isSafeInteger(size) && (size as number) >= 0;
}

function isDigest(digest: unknown): digest is string {
  return typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest);
}
