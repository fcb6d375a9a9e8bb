// What a list says: a Data Package (https://datapackage.org/standard/data-package/), of whose resources the path or URL, the size
// and the SHA-256 count. Paths lie beside the list or below it, as that standard has it; a URL leads anywhere, and is the file
// that the resource's name says.

import { FailureError } from '@llmservice/crds';
import { StoreHttpError } from '../http/http-client.js';

export interface ListedAt {
  readonly bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly url: URL;
}

const maxFiles = 4_000;
const maxPathBytes = 1_024;
/** Of which a message speaks. */
const maxViolations = 5;

/**
 * Files by their paths.
 * @param list where it was asked for: its relative paths begin there, whatever it was redirected to
 * @throws StoreHttpError
 */
export function readFileList(content: Uint8Array, list: URL): Map<string, ListedAt> {
  const resources = resourcesIn(content, list);
  if (resources.length > maxFiles)
    throw unsupported('TooManyFiles', list, `resources has more than ${String(maxFiles)} entries`);
  const files = new Map<string, ListedAt>();
  const violations: Violation[] = [];
  for (const [at, resource] of resources.entries()) {
    const violate = (code: Violation['code'], field: string, words: string): null => {
      violations.push({ code, words: `resources[${String(at)}]${field} ${words}` });
      return null;
    };
    const file = readResource(resource, list, violate);
    if (file === null) continue;
    if (files.has(file.path)) violate('RepeatedFile', '', 'names the file of an earlier one');
    else files.set(file.path, file);
  }
  const [first] = violations;
  if (first !== undefined) throw unsupported(first.code, list, wordsOf(violations));
  return files;
}

interface Violation {
  readonly code: 'InvalidPath' | 'InvalidEntry' | 'InsecureAddress' | 'RepeatedFile';
  readonly words: string;
}

type Violate = (code: Violation['code'], field: string, words: string) => null;

function resourcesIn(content: Uint8Array, list: URL): readonly unknown[] {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch {
    throw unsupported('NoJson', list, 'is no JSON');
  }
  const { resources } = (json ?? {}) as { readonly resources?: unknown };
  if (!Array.isArray(resources) || resources.length === 0)
    throw unsupported('NoPackage', list, 'has no resources, a list of {path, bytes, hash}');
  return resources;
}

function readResource(
  resource: unknown,
  list: URL,
  violate: Violate,
): (ListedAt & { readonly path: string }) | null {
  const { name, path, bytes, hash } = (resource ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof path !== 'string') return violate('InvalidPath', '.path', 'must be a path or a URL, as text');
  const url = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(path) ? readUrl(path, list, violate) : undefined;
  if (url === null) return null;
  const given = url === undefined ? path : name;
  const field = url === undefined ? '.path' : '.name, of a URL the path of the file,';
  if (typeof given !== 'string' || !isBelow(given))
    return violate(
      'InvalidPath',
      field,
      'must lie below the list, in Unicode: no "..", no "/" in front, no "\\"',
    );
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    return violate('InvalidEntry', '.bytes', 'must be the size of the file in bytes');
  const sha256 = typeof hash === 'string' ? /^sha256:([0-9a-fA-F]{64})$/.exec(hash)?.[1] : undefined;
  if (sha256 === undefined)
    return violate('InvalidEntry', '.hash', 'must be sha256: and 64 hexadecimal digits');
  const beside = given.split('/').map(encodeURIComponent).join('/');
  return { path: given, bytes, sha256: sha256.toLowerCase(), url: url ?? new URL(beside, list) };
}

function readUrl(text: string, list: URL, violate: Violate): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  )
    return violate('InvalidPath', '.path', 'must be an http(s) URL without a user, or a path');
  if (list.protocol === 'https:' && url.protocol !== 'https:')
    return violate('InsecureAddress', '.path', 'leads from a list over HTTPS to a file without TLS');
  url.hash = '';
  return url;
}

function isBelow(path: string): boolean {
  if (Buffer.byteLength(path) > maxPathBytes || /[\\\p{Cc}\p{Cs}]/u.test(path)) return false;
  return path.split('/').every((part) => part !== '' && !/^\.+$/.test(part));
}

function wordsOf(violations: readonly Violation[]): string {
  const shown = violations.slice(0, maxViolations).map(({ words }) => words);
  const rest = violations.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${String(rest)} more`] : [])].join('; ');
}

/** Words are of ours alone, so that everybody may see them. */
export function unsupported(code: string, { origin, pathname }: URL, words: string): StoreHttpError {
  const message = `the list ${origin}${pathname}: ${words}`;
  return new StoreHttpError(code, null, message, { cause: new FailureError('ListUnsupported', message) });
}
