// Generated from crds/key-file.schema.json by `npm run generate`. Do not edit.

/**
 * an object with one field, keys: the API keys of a service
 */
export interface KeyFile {
  /**
   * a list of 1 to 1000 keys; to serve without keys, remove auth.keysSecretRef
   *
   * @minItems 1
   * @maxItems 1000
   */
  keys: KeyEntry[];
}
/**
 * a key: id and sha256, and what it may use
 */
export interface KeyEntry {
  /**
   * a name for logs and metrics, of 1 to 63 letters, digits, '.', '_' and '-', such as team-a
   */
  id: string;
  /**
   * the SHA-256 of the key in 64 hex digits (printf %s "$KEY" | sha256sum), or a list of two during a key change
   *
   * @minItems 1
   * @maxItems 2
   */
  sha256: string | string[];
  /**
   * a name of 1 to 63 letters, digits, '.', '_' and '-': keys with the same name reuse each other's cached prompts; without it, a key reuses only its own
   */
  cacheGroup?: string;
  /**
   * from -8, the most urgent, to 8: the priority of its requests, and the most urgent that they may ask for
   */
  priority?: number;
  /**
   * its share of the engine relative to other keys while requests wait, 1 to 100
   */
  weight?: number;
  /**
   * tokens of prompts and answers per minute, a whole number of at least 1; without it, no limit
   */
  tokensPerMinute?: number;
  /**
   * tokens of prompts and answers per day (UTC), a whole number of at least 1; without it, no limit
   */
  tokensPerDay?: number;
  /**
   * requests at once, a whole number of at least 1; without it, no limit
   */
  concurrency?: number;
}
