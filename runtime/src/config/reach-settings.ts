// Settings of who reaches the server and where: addresses, TLS, the administration, connections, web pages of other origins.

import { ports, readList } from '@llmservice/crds';
import { parseCheckpointUri } from '../weights/checkpoint-uri.js';
import { atLeast, defineFor } from './server-setting.js';

export interface ReachSettings {
  /** Null: every address, of IPv6 too. */
  readonly host: string | null;
  readonly port: number;
  /** Folder with tls.crt, tls.key and perhaps client-ca.crt; null: plain HTTP. */
  readonly tlsDir: string | null;
  /** Null: there is no administration. */
  readonly adminPort: number | null;
  readonly adminHost: string;
  /** Folder with the keys file of administrators. */
  readonly adminKeysDir: string | null;
  /** Of checkpoints that administrators may load in addition to the configured one: folders and prefixes, with all below them. */
  readonly adminAllowedUris: readonly string[];
  readonly maxConnections: number;
  /** Of web pages that may read answers, as browsers write them; `*`: every one. */
  readonly corsOrigins: readonly string[];
}

const define = defineFor<ReachSettings>();

export const reachSettings = [
  define('host', '--host', 'ADDRESS', 'address to listen on', null, String),
  define('port', '--port', 'N', 'port to listen on; 0: any free one', ports.http, atLeast(0)),
  define(
    'tlsDir',
    '--tls-dir',
    'DIR',
    'serve HTTPS with tls.crt and tls.key from here; with client-ca.crt, to clients that have a certificate of it',
    null,
    String,
  ),
  define(
    'adminPort',
    '--admin-port',
    'N',
    'port of the administration; without it, there is none',
    null,
    atLeast(1),
  ),
  define(
    'adminHost',
    '--admin-host',
    'ADDRESS',
    'address that the administration listens on',
    '127.0.0.1',
    String,
  ),
  define(
    'adminKeysDir',
    '--admin-keys-dir',
    'DIR',
    'keys of administrators, in a file like that of the API keys',
    null,
    String,
  ),
  define(
    'adminAllowedUris',
    '--admin-allowed-uris',
    'URI,URI',
    'folders and s3://bucket/prefix/ below which administrators may load other checkpoints',
    [],
    asUris,
  ),
  define(
    'maxConnections',
    '--max-connections',
    'N',
    'connections that are open at once; beyond, idle ones are closed and then new ones refused with 503',
    4096,
    atLeast(1),
  ),
  define(
    'corsOrigins',
    '--cors-origins',
    'ORIGIN,ORIGIN',
    'web pages of other origins that may use the server, such as https://chat.example; *: all',
    [],
    asOrigins,
  ),
] as const;

function asOrigins(text: string): string[] {
  const origins = readList(text);
  const wrong = origins.find((each) => each !== '*' && !/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@A-Z]+$/.test(each));
  if (wrong !== undefined)
    throw new Error(`expected * or origins such as https://chat.example, without a path: not ${wrong}`);
  return origins;
}

/** @throws FailureError InvalidEngineConfig for what is none */
function asUris(text: string): string[] {
  const uris = readList(text);
  for (const uri of uris) parseCheckpointUri('administration.allowedUris', uri);
  return uris;
}
