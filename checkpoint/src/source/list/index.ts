// Checkpoints whose files a list over HTTP names.

export { ListByteSource } from './list-byte-source.js';
export type { ListAccess } from './list-byte-source.js';
export { bindListToken } from './list-token.js';
export type { ListToken } from './list-token.js';
export { listFolder, listUri, parseListUri } from './list-uri.js';
export type { ListPlace } from './list-uri.js';
