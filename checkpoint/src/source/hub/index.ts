// Checkpoints in repositories of a hub of models.

export { HubByteSource } from './hub-byte-source.js';
export type { HubAccess } from './hub-client.js';
export type { Fetch } from '../http/http-client.js';
export { defaultHubEndpoint, hubFolder, parseHubUri } from './hub-uri.js';
export type { HubPlace } from './hub-uri.js';
