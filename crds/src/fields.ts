// Fields of a nested JSON object by dotted path. Paths come from our own tables only.

export type JsonObject = Record<string, unknown>;

export function getField(object: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), object);
}

/** Makes the objects on the way; leaves a value of another type where it is, for the schema to refuse. */
export function setField(object: JsonObject, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop();
  if (last === undefined) return;
  let parent = object;
  for (const key of keys) {
    const next = (parent[key] ??= {});
    if (!isObject(next)) return;
    parent = next;
  }
  parent[last] = value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
