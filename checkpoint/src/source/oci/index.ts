// Checkpoints in registries of container images.

export { OciByteSource } from './oci-byte-source.js';
export { ociFolder, ociUri, parseOciUri, registryEndpoint } from './oci-uri.js';
export type { OciPlace } from './oci-uri.js';
export type { RegistryAccess } from './registry-client.js';
export { credentialsFor } from './registry-credentials.js';
export type { RegistryCredentials } from './registry-credentials.js';
