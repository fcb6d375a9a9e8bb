// The credentials of one registry in a file of container tools (config.json, .dockerconfigjson).

import { FailureError } from '@llmservice/crds';

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

interface Entry {
  readonly auth?: unknown;
  readonly username?: unknown;
  readonly password?: unknown;
  readonly identitytoken?: unknown;
}

/** As the file of Docker names its hub. */
const dockerHub = ['docker.io', 'https://index.docker.io/v1/', 'index.docker.io', 'registry-1.docker.io'];

/**
 * Null: the file has none for the registry.
 * @throws FailureError RegistryAccessDenied where the file, or what it has for the registry, cannot be read
 */
export function credentialsFor(registry: string, text: string): RegistryCredentials | null {
  const names = dockerHub.includes(registry)
    ? dockerHub
    : [registry, `https://${registry}`, `https://${registry}/`, `https://${registry}/v1/`];
  const auths = parse(text);
  const name = names.find((each) => Object.hasOwn(auths, each));
  if (name === undefined) return null;
  const { auth, username, password, identitytoken } = auths[name] ?? {};
  if (typeof identitytoken === 'string' && identitytoken !== '')
    throw invalid(`has an identity token for ${name}, where a user name and a password or token are needed`);
  if (typeof username === 'string' && typeof password === 'string' && username !== '')
    return { username, password };
  if (typeof auth !== 'string') throw invalid(`has no auth for ${name}`);
  const decoded = Buffer.from(auth, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon <= 0) throw invalid(`has an auth for ${name} that is not USER:PASSWORD in Base64`);
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1).replace(/\0+$/, '') };
}

function parse(text: string): Readonly<Record<string, Entry>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw invalid('is not JSON');
  }
  const { auths } = (parsed ?? {}) as { readonly auths?: unknown };
  if (typeof auths !== 'object' || auths === null) throw invalid('has no "auths"');
  return auths as Readonly<Record<string, Entry>>;
}

/** Nothing of the content: it is secret. */
function invalid(problem: string): FailureError {
  return new FailureError('RegistryAccessDenied', `the Docker configuration with the credentials ${problem}`);
}
