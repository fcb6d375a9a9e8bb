// Who owns which fields of an LlmService (metadata.managedFields), by the names of the stored version. The API server converts
// an object for each version that an owner has, at every write of anybody: with the stored one alone, writes need no webhook,
// and none fails once the other version is no longer served.

import { renamedTo } from './convert-service.js';
import { api } from './names.js';

/** Of meta/v1, what is read. Items of lists that are owned whole have no entries of their own. */
export interface FieldOwner {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/** @returns null where all of them have names of the stored version already */
export function ownersInStoredVersion(owners: readonly FieldOwner[]): readonly FieldOwner[] | null {
  const beta = `${api.group}/${api.betaVersion}`;
  if (!owners.some(({ apiVersion }) => apiVersion === beta)) return null;
  const found = new Map<string, FieldOwner>();
  for (const owner of owners) {
    const { manager = '', operation = '', subresource = '', fieldsV1 = {} } = owner;
    const stored =
      owner.apiVersion === beta
        ? {
            ...owner,
            apiVersion: api.groupVersion,
            fieldsV1: renamedTo(api.version, fieldsV1, entry) as Fields,
          }
        : owner;
    const key = JSON.stringify([manager, operation, subresource, stored.apiVersion]);
    const before = found.get(key);
    // Two of one identity are one: the API server would take the last of them alone.
    found.set(
      key,
      before === undefined
        ? stored
        : { ...stored, fieldsV1: union(before.fieldsV1 ?? {}, stored.fieldsV1 ?? {}) },
    );
  }
  return [...found.values()];
}

type Fields = Readonly<Record<string, unknown>>;

/** As managed fields spell the name of a field. */
const entry = (name: string): string => `f:${name}`;

function union(one: Fields, other: Fields): Fields {
  const both = Object.entries(other).map(([name, fields]) => [
    name,
    Object.hasOwn(one, name) ? union(one[name] as Fields, fields as Fields) : fields,
  ]);
  return { ...one, ...(Object.fromEntries(both) as Fields) };
}
