// Where the schema of a cluster's CRD differs from that of this build, field by field. The build has JSON Schema made
// from its CRD; what only a CRD can say (CEL rules, list types) is left out. Pure.

type Schema = Readonly<Record<string, unknown>> & {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
};

export interface SchemaDifferences {
  /** Paths of fields that the cluster does not know: it drops them. */
  readonly missing: readonly string[];
  /** Of fields that this build does not know. */
  readonly unknown: readonly string[];
  /** Of fields whose type, bounds or default are others. */
  readonly changed: readonly string[];
}

/** What the two spell the same way. */
const keywords = [
  ...['type', 'format', 'pattern', 'enum', 'default', 'maximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
];

export function schemaDifferences(build: object, cluster: object): SchemaDifferences {
  const found = { missing: [] as string[], unknown: [] as string[], changed: [] as string[] };
  for (const part of ['spec', 'status']) {
    const [ours, theirs] = [(build as Schema).properties?.[part], (cluster as Schema).properties?.[part]];
    if (theirs === undefined) found.missing.push(part);
    else if (ours !== undefined) compare(ours, theirs, part, found);
  }
  return found;
}

type Found = Record<keyof SchemaDifferences, string[]>;

function compare(ours: Schema, theirs: Schema, path: string, found: Found): void {
  if (differs(ours, theirs)) found.changed.push(path);
  const [known, served] = [ours.properties ?? {}, theirs.properties ?? {}];
  for (const [name, schema] of Object.entries(known)) {
    const other = served[name];
    if (other === undefined) found.missing.push(`${path}.${name}`);
    else compare(schema, other, `${path}.${name}`, found);
  }
  // A free-form object has no fields in the build's schema, whatever the CRD says of some of them.
  if (ours.properties !== undefined) {
    found.unknown.push(
      ...Object.keys(served)
        .filter((name) => known[name] === undefined)
        .map((name) => `${path}.${name}`),
    );
  }
  if (ours.items !== undefined && theirs.items !== undefined)
    compare(ours.items, theirs.items, `${path}[]`, found);
  const [values, others] = [ours.additionalProperties, theirs.additionalProperties];
  if (typeof values === 'object' && typeof others === 'object') compare(values, others, `${path}{}`, found);
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A choice of types is `type` in the one and `anyOf` in the other. */
function differs(ours: Schema, theirs: Schema): boolean {
  return (
    !isSame(minimumOf(ours), minimumOf(theirs)) ||
    keywords
      .filter((keyword) => keyword !== 'type' || theirs['anyOf'] === undefined)
      .some((keyword) => !isSame(ours[keyword], theirs[keyword]))
  );
}

/** With whether it is excluded, which JSON Schema says by another keyword, and a CRD by a mark. */
const minimumOf = ({ minimum, exclusiveMinimum }: Schema): readonly [unknown, boolean] =>
  typeof exclusiveMinimum === 'number' ? [exclusiveMinimum, true] : [minimum, exclusiveMinimum === true];
