// Objects of one resource, by namespace and name and by keys of an index: a look for those that something has in common
// takes no longer the more others there are.

import type { KubeObject } from '../kube/types.js';

/** What an object is looked up by besides its name: a key, or several, or none. */
export type IndexKeys = (object: KubeObject) => string | readonly string[];

export class ObjectStore {
  private objects = new Map<string, KubeObject>();
  private readonly index = new Map<string, string[]>();

  constructor(private readonly keysOf: IndexKeys = () => []) {}

  /** @param key as `keyOf` has it, here and below */
  get(key: string): KubeObject | null {
    return this.objects.get(key) ?? null;
  }

  set(key: string, object: KubeObject): void {
    this.unlist(key);
    this.objects.set(key, object);
    this.list(key, object);
  }

  delete(key: string): void {
    this.unlist(key);
    this.objects.delete(key);
  }

  /** Puts these in place of all. @returns what was there */
  replace(found: Map<string, KubeObject>): ReadonlyMap<string, KubeObject> {
    const before = this.objects;
    this.objects = found;
    this.index.clear();
    for (const [key, object] of found) this.list(key, object);
    return before;
  }

  values(): IterableIterator<KubeObject> {
    return this.objects.values();
  }

  /** Those that have the key of the index. */
  indexed(indexKey: string): KubeObject[] {
    return (this.index.get(indexKey) ?? []).flatMap((key) => this.objects.get(key) ?? []);
  }

  private indexKeys(object: KubeObject): ReadonlySet<string> {
    const keys = this.keysOf(object);
    return new Set(typeof keys === 'string' ? [keys] : keys);
  }

  private list(key: string, object: KubeObject): void {
    for (const indexKey of this.indexKeys(object)) {
      const listed = this.index.get(indexKey);
      if (listed === undefined) this.index.set(indexKey, [key]);
      else listed.push(key);
    }
  }

  private unlist(key: string): void {
    const object = this.objects.get(key);
    if (object === undefined) return;
    for (const indexKey of this.indexKeys(object)) {
      const left = (this.index.get(indexKey) ?? []).filter((each) => each !== key);
      if (left.length === 0) this.index.delete(indexKey);
      else this.index.set(indexKey, left);
    }
  }
}
