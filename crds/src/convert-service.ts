// An LlmService in another of its API versions: names and values by the table of `betaFields`, everything else as it is. Pure
// and total: what has another type than the schema says passes as it is, since the API server converts parts of objects
// too (managed fields).

import { betaFields, partsOf, type BetaField } from './beta-fields.js';
import { api } from './names.js';

/** Served by the API; the operator works with `api.version`, which is stored too. */
export const serviceVersions = [api.version, api.betaVersion] as const;
export type ServiceVersion = (typeof serviceVersions)[number];

export class UnknownVersionError extends Error {
  override readonly name = 'UnknownVersionError';
  readonly code = 'UnknownVersion';
}

type Json = Readonly<Record<string, unknown>>;

/** `v1beta1` of `llmservice.dev/v1beta1`. @throws UnknownVersionError for what is no version of ours */
export function serviceVersionOf(apiVersion: unknown): ServiceVersion {
  const found = serviceVersions.find((version) => apiVersion === `${api.group}/${version}`);
  if (found !== undefined) return found;
  const known = serviceVersions.map((version) => `${api.group}/${version}`).join(' and ');
  throw new UnknownVersionError(`apiVersion ${JSON.stringify(apiVersion)} is none of ${known}`);
}

/** @param object not changed @throws UnknownVersionError when its apiVersion is none of ours */
export function convertService<T extends object>(object: T, version: ServiceVersion): T {
  const from = serviceVersionOf((object as Json)['apiVersion']);
  if (from === version) return object;
  return { ...(renamedTo(version, object) as T), apiVersion: `${api.group}/${version}` };
}

/** @param member how the value spells the name of a member */
export function renamedTo(
  version: ServiceVersion,
  value: unknown,
  member = (name: string): string => name,
): unknown {
  const toBeta = version === api.betaVersion;
  return betaFields.reduce((result, field) => {
    const { parents, own } = partsOf(field);
    const [from, to] = toBeta ? [own, field.name] : [field.name, own];
    const values = toBeta ? (field.values ?? {}) : inverse(field.values ?? {});
    return within(
      result,
      parents.map((name) => (name === '[]' ? name : member(name))),
      {
        from: member(from),
        to: member(to),
        values,
      },
    );
  }, value);
}

interface Change {
  readonly from: string;
  readonly to: string;
  readonly values: Readonly<Record<string, string>>;
}

/** The value with the change at the end of the path, wherever that is; copies only what is on the way. */
function within(value: unknown, [next, ...rest]: readonly string[], change: Change): unknown {
  if (next === undefined) return isObject(value) ? withName(value, change) : value;
  if (next === '[]') return Array.isArray(value) ? value.map((item) => within(item, rest, change)) : value;
  if (!isObject(value) || !Object.hasOwn(value, next)) return value;
  return { ...value, [next]: within(value[next], rest, change) };
}

/** In the place of the old name. A member that already has the new name is none of the version, and may not become the field. */
function withName(parent: Json, { from, to, values }: Change): Json {
  if (!Object.hasOwn(parent, from) && !Object.hasOwn(parent, to)) return parent;
  const entries = Object.entries(parent).filter(([name]) => name === from || name !== to);
  return Object.fromEntries(
    entries.map(([name, value]) => (name === from ? [to, spelled(value, values)] : [name, value])),
  );
}

const spelled = (value: unknown, values: Readonly<Record<string, string>>): unknown =>
  typeof value === 'string' && Object.hasOwn(values, value) ? values[value] : value;

const inverse = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [value, name]));

/** What of a v1beta1 object has a name or a value of v1alpha1: the API server would drop or refuse it. */
export function alphaNamesIn(
  object: unknown,
): readonly { readonly path: string; readonly message: string }[] {
  return betaFields.flatMap((field) => {
    const { parents, own } = partsOf(field);
    return placesOf(object, parents).flatMap(([place, parent]) => {
      if (!Object.hasOwn(parent, own)) return [];
      const value = parent[own];
      if (field.name !== own) return [{ path: `${place}.${own}`, message: renamedMessage(field) }];
      const other = typeof value === 'string' ? field.values?.[value] : undefined;
      if (other === undefined) return [];
      const message = `is ${other} in ${api.betaVersion}, not ${String(value)}`;
      return [{ path: `${place}.${own}`, message }];
    });
  });
}

const renamedMessage = ({ name }: BetaField): string =>
  `is not a known field of ${api.betaVersion}; its name there is ${name}`;

function placesOf(
  value: unknown,
  [next, ...rest]: readonly string[],
  place = '',
): readonly (readonly [string, Json])[] {
  if (next === undefined) return isObject(value) ? [[place, value]] : [];
  if (next === '[]') {
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    return items.flatMap((item, index) => placesOf(item, rest, `${place}[${index}]`));
  }
  return isObject(value) ? placesOf(value[next], rest, place === '' ? next : `${place}.${next}`) : [];
}

/** A field's path, or a message that names fields by it, as v1beta1 has it. */
export function betaText(text: string): string {
  return betaFields.reduce((result, field) => withBetaName(result, field), text);
}

function withBetaName(text: string, { path, name, phrases = {} }: BetaField): string {
  const parts = path.replaceAll('[]', '').split('.');
  const own = parts.at(-1) ?? '';
  let result = text;
  // The longest mention first; one part alone may be a word of English, unless it has a capital within.
  for (let first = 0; first < parts.length - (/[A-Z]/.test(own) ? 0 : 1); first += 1) {
    const mention = parts
      .slice(first)
      .map(escaped)
      .join(String.raw`(\[\d*\])?\.`);
    const pattern = new RegExp(String.raw`(?<![\w.])${mention}(?!\w|\.\w)`, 'g');
    result = result.replace(pattern, (found) => found.slice(0, -own.length) + name);
  }
  return Object.entries(phrases).reduce((words, [from, to]) => words.replaceAll(from, to), result);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
