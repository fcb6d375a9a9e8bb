// The API keys of a gateway's Secret, for its router.

import type { IncomingHttpHeaders } from 'node:http';
import { readKeyFile, type ConfiguredKey } from '@llmservice/crds';
import { KeySet, presentedKey } from '@llmservice/crds/keys';
import { RouterError } from './router-error.js';

export class KnownKeys {
  private readonly set: KeySet;

  constructor(readonly keys: readonly ConfiguredKey[]) {
    this.set = new KeySet(keys);
  }

  /** @throws Error with everything that is wrong, and no text that may be a key */
  static read(text: string): KnownKeys {
    const read = readKeyFile(text);
    if (read.ok) return new KnownKeys(read.value);
    throw new Error(read.violations.map(({ path, message }) => `${path} ${message}`.trim()).join('; '));
  }

  /** The key of a request. @throws RouterError invalid_api_key */
  require(headers: IncomingHttpHeaders): ConfiguredKey {
    const presented = presentedKey(headers);
    if (presented === null) {
      throw new RouterError(
        'invalid_api_key',
        'this gateway asks for an API key: send it as the header Authorization: Bearer KEY, or x-api-key: KEY',
      );
    }
    const found = this.set.find(presented);
    if (found !== null) return found;
    throw new RouterError(
      'invalid_api_key',
      'the API key is not known here: check that it is whole, and that it was not withdrawn',
    );
  }
}
