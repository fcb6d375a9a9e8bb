// The key file of a service, from its text to complete entries, or to everything that is wrong with it. YAML, of which
// JSON is a part. Messages say what a field must be; none repeats a value, for it might be a key.

import { Ajv, type ErrorObject } from 'ajv';
import { parseDocument, type Document } from 'yaml';
import { keyFileSchema } from './generated/key-file-schema.js';
import type { KeyEntry, KeyFile } from './generated/key-file.js';
import { readablePath, type Validated, type Violation } from './validate.js';

/** One API key. */
export interface ConfiguredKey {
  readonly id: string;
  /** SHA-256 of each text that is this key, in hex digits: two while it is changed. */
  readonly hashes: readonly string[];
  /** Keys of one group share the prefix cache; null: the key has its own. */
  readonly cacheGroup: string | null;
  readonly priority: number;
  readonly weight: number;
  /** Null: no limit. */
  readonly tokensPerMinute: number | null;
  readonly tokensPerDay: number | null;
  readonly concurrency: number | null;
}

/** Names under which the file may lie in its folder. */
export const keyFileNames = ['keys.yaml', 'keys.json'] as const;

const ajv = new Ajv({ allErrors: true, useDefaults: true, allowUnionTypes: true, verbose: true });

export function readKeyFile(text: string): Validated<readonly ConfiguredKey[]> {
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined) {
    const { line = 0 } = broken.linePos?.[0] ?? {};
    return refuse([
      {
        path: '',
        message: `is not YAML: line ${String(line)}: ${broken.code.toLowerCase().replaceAll('_', ' ')}`,
      },
    ]);
  }
  const content = contentOf(document);
  if (content === undefined)
    return refuse([{ path: '', message: 'has an alias (*name) that no anchor stands before, or too many' }]);
  const check = ajv.compile<KeyFile>(keyFileSchema); // once: it is kept
  if (!check(content)) return refuse(schemaViolations(check.errors ?? []));
  const keys = content.keys.map(configured);
  const violations = [...repeatedIds(keys), ...uselessHashes(keys)];
  return violations.length > 0 ? refuse(violations) : { ok: true, value: keys };
}

/** undefined: its aliases cannot be followed. What is thrown then repeats a text of the file. */
function contentOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return undefined;
  }
}

function refuse(violations: readonly Violation[]): Validated<never> {
  return { ok: false, violations };
}

function configured({ id, sha256, priority = 0, weight = 1, ...limits }: KeyEntry): ConfiguredKey {
  const hashes = typeof sha256 === 'string' ? [sha256] : sha256;
  return {
    id,
    hashes: hashes.map((hash) => hash.toLowerCase()),
    cacheGroup: limits.cacheGroup ?? null,
    priority,
    weight,
    tokensPerMinute: limits.tokensPerMinute ?? null,
    tokensPerDay: limits.tokensPerDay ?? null,
    concurrency: limits.concurrency ?? null,
  };
}

/** What a field must be stands in its description: it says more than the keyword that failed. */
function schemaViolations(errors: readonly ErrorObject[]): Violation[] {
  const byPath = new Map<string, string>();
  for (const { instancePath, keyword, params, parentSchema, message = 'is not valid' } of errors) {
    const path = readablePath(instancePath);
    const { description } = parentSchema as { description?: string };
    if (keyword === 'required') byPath.set(child(path, String(params['missingProperty'])), 'is required');
    else if (keyword === 'additionalProperties')
      byPath.set(child(path, String(params['additionalProperty'])), 'is not a known field');
    else if (!byPath.has(path))
      byPath.set(path, description === undefined ? message : `must be ${description}`);
  }
  return Array.from(byPath, ([path, message]) => ({ path, message }));
}

const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function repeatedIds(keys: readonly ConfiguredKey[]): Violation[] {
  const first = new Map<string, number>();
  return keys.flatMap(({ id }, index) => {
    const before = first.get(id);
    if (before === undefined) first.set(id, index);
    return before === undefined
      ? []
      : [
          {
            path: `keys[${String(index)}].id`,
            message: `is that of keys[${String(before)}] too: ids are unique`,
          },
        ];
  });
}

/** SHA-256 of texts that are no key: what the command gives where its variable is empty. */
const hashesOfNothing: Readonly<Record<string, string>> = {
  e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855: 'nothing',
  '01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b': 'an empty line',
};

function uselessHashes(keys: readonly ConfiguredKey[]): Violation[] {
  const owners = new Map<string, string>();
  return keys.flatMap(({ id, hashes }, index) =>
    hashes.flatMap((hash) => {
      const path = `keys[${String(index)}].sha256`;
      const nothing = hashesOfNothing[hash];
      if (nothing !== undefined) return [{ path, message: `is the hash of ${nothing}, not of a key` }];
      const owner = owners.get(hash);
      owners.set(hash, id);
      return owner === undefined
        ? []
        : [{ path, message: `is that of the key ${owner} too: each has its own` }];
    }),
  );
}
