// The URI of a checkpoint, a folder or a .gguf file, as a typed value: s3://bucket/prefix/, hf://owner/name,
// oci://registry/repository:tag, https://host/list.json, pvc://claim/folder, file:///path or a path.

import { claimUri, parseClaimUri, splitGgufPath } from '@llmservice/checkpoint';
import { parseHubUri, type HubPlace } from '@llmservice/checkpoint/hub';
import { parseListUri, type ListPlace } from '@llmservice/checkpoint/list';
import { ociUri, parseOciUri, type OciPlace } from '@llmservice/checkpoint/oci';
import { FailureError, paths } from '@llmservice/crds';
import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mounted } from './mounted-folder.js';

/** The settings that name a checkpoint. */
export type UriField = 'model.uri' | 'engine.speculative.uri' | 'administration.allowedUris' | 'adapters';

/** `file` is the GGUF file in the folder that is meant; null for the folder. */
export type CheckpointUri = { readonly file: string | null } &
  /** `google`: of Google Cloud Storage. */
  (
    | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string; readonly google: boolean }
    | { readonly kind: 'hub'; readonly place: HubPlace }
    | { readonly kind: 'oci'; readonly place: OciPlace }
    | { readonly kind: 'list'; readonly place: ListPlace }
    /** `mounted`: what it lies on, as a part of which it is shown; null: it is of this machine. */
    | { readonly kind: 'folder'; readonly dir: string; readonly mounted: Mounted | null }
  );

/**
 * @param field the setting that it is, for messages
 * @throws FailureError InvalidEngineConfig
 */
export function parseCheckpointUri(field: UriField, uri: string): CheckpointUri {
  const s3 = /^(s3|gs):\/\/([^/]+)\/?(.*)$/.exec(uri);
  if (s3 !== null) {
    const [, scheme, bucket = '', prefix = ''] = s3;
    const gguf = splitGgufPath(prefix);
    const google = scheme === 'gs';
    return { kind: 's3', bucket, prefix: gguf?.folder ?? prefix, file: gguf?.file ?? null, google };
  }
  if (uri.startsWith('hf://')) {
    const place = parseHubUri(uri);
    if (place === null) throw invalid(field, uri, 'expected hf://OWNER/NAME[@REVISION][/FOLDER][/FILE.gguf]');
    return { kind: 'hub', place, file: place.file };
  }
  if (uri.startsWith('oci://')) {
    const place = parseOciUri(uri);
    if (place === null)
      throw invalid(
        field,
        uri,
        'expected oci://REGISTRY/REPOSITORY:TAG or @sha256:DIGEST, [/FOLDER][/FILE.gguf]',
      );
    return { kind: 'oci', place, file: place.file };
  }
  if (/^https?:\/\//.test(uri)) {
    const place = parseListUri(uri);
    if (place === null)
      throw invalid(
        field,
        uri,
        'expected https://HOST/PATH/LIST.json[@sha256:DIGEST][/FOLDER][/FILE.gguf], over http:// with the digest',
      );
    return { kind: 'list', place, file: place.file };
  }
  if (uri.startsWith('pvc://')) {
    const place = parseClaimUri(uri);
    if (place === null) throw invalid(field, uri, 'expected pvc://CLAIM[/FOLDER][/FILE.gguf]');
    const { claim, file } = place;
    const root = join(paths.claims, claim);
    const uriOf = (folder: string): string => claimUri({ claim, folder });
    const mounted = { kind: 'claim', name: claim, root, uriOf };
    return { kind: 'folder', dir: join(root, place.folder), mounted, file };
  }
  if (uri.startsWith('file://')) {
    try {
      return localPath(fileURLToPath(uri));
    } catch (error) {
      throw invalid(field, uri, (error as Error).message);
    }
  }
  if (isAbsolute(uri)) return localPath(uri);
  throw invalid(
    field,
    uri,
    'expected s3://bucket/prefix/, gs://bucket/prefix/, hf://owner/name, oci://registry/repository:tag, https://host/list.json, pvc://claim/folder, file:///path or an absolute path',
  );
}

function localPath(path: string): CheckpointUri {
  const gguf = splitGgufPath(path);
  return { kind: 'folder', dir: gguf?.folder ?? path, mounted: null, file: gguf?.file ?? null };
}

/** An artifact as the folder where pods have it mounted. */
export function mountedArtifact(place: OciPlace, root: string = paths.modelImage): CheckpointUri {
  const { registry, repository, folder, file } = place;
  const uriOf = (below: string): string => ociUri({ ...place, folder: below });
  const mounted = { kind: 'image', name: `${registry}/${repository}`, root, uriOf };
  return { kind: 'folder', dir: join(root, folder), mounted, file };
}

/** A folder name for the pulled copy: readable, and different for every URI. */
export function checkpointFolderName(uri: string): string {
  return `${readableName(uri)}-${createHash('sha256').update(uri).digest('hex').slice(0, 8)}`;
}

/** The last part of a URI, as a name of a file. */
export function readableName(uri: string): string {
  const last = uri.split('/').filter(Boolean).at(-1) ?? 'model';
  return last.replace(/[^\w.-]/g, '_');
}

function invalid(field: UriField, uri: string, problem: string): FailureError {
  return new FailureError('InvalidEngineConfig', `${field} ${JSON.stringify(uri)}: ${problem}`);
}
