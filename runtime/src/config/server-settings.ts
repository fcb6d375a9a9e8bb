// Settings of this process alone: where it listens, where it writes, what it admits. They have defaults,
// no field in the engine config, and one table of names, like the others.

import { paths, ports, readBoolean, readInteger, readList, serverVariableNames } from '@llmservice/crds';
import { compatibilities, isCompatibilityName, type CompatibilityName } from '../request/compatibility.js';
import { parseCheckpointUri } from '../weights/checkpoint-uri.js';

export interface ServerSettings {
  /** Null: every address, of IPv6 too. */
  readonly host: string | null;
  readonly port: number;
  /** Pulled checkpoints lie in folders of their own below it. */
  readonly weightsDir: string;
  readonly terminationLog: string;
  /** NAMESPACE/NAME of the service that the process is a replica of; null: of none. */
  readonly service: string | null;
  /** Folder of PEM files to trust for S3 besides the system's roots; need not exist. */
  readonly s3CaDir: string;
  /** Folder with tls.crt, tls.key and perhaps client-ca.crt; null: plain HTTP. */
  readonly tlsDir: string | null;
  /** Null: there is no administration. */
  readonly adminPort: number | null;
  readonly adminHost: string;
  /** Folder with the keys file of administrators. */
  readonly adminKeysDir: string | null;
  /** Of checkpoints that administrators may load in addition to the configured one: folders and prefixes, with all below them. */
  readonly adminAllowedUris: readonly string[];
  /** The server whose clients find what they count on. */
  readonly compatibility: CompatibilityName;
  readonly logLevel: string;
  readonly maxBodyBytes: number;
  /** Of all bodies together, unpacked; null: a part of the memory that the process may use. */
  readonly maxBodiesBytes: number | null;
  readonly maxConnections: number;
  /** Of web pages that may read answers, as browsers write them; `*`: every one. */
  readonly corsOrigins: readonly string[];
  /** Answers that may wait for the engine beyond those that run; more are refused with 503. */
  readonly maxWaiting: number;
  /** The lowest that a request may send as its priority where there are no API keys, which have bounds of their own. */
  readonly mostUrgentPriority: number;
  /** For responses that clients come back for; null: none is stored. */
  readonly storedResponsesBytes: number | null;
  /** Where they are stored; null: in memory. */
  readonly storedResponsesUri: ObjectFolder | null;
  readonly storedResponsesCount: number;
  readonly storedResponsesSeconds: number;
  /** A file of the accounting log that has reached it is followed by another. */
  readonly accountingFileBytes: number;
  /** Where requests are logged as JSON lines; null: nowhere. */
  readonly requestLog: ObjectFolder | null;
  /** Whether the request log has prompts and answers too. */
  readonly requestLogText: boolean;
  /** Compute threads of the engine; null: one per physical core. */
  readonly threads: number | null;
  /** Accepted for the sake of existing values files; code from a checkpoint is never run. */
  readonly trustRemoteCode: boolean;
}

/** A place in a bucket; `prefix` is empty or ends in a slash. */
export interface ObjectFolder {
  readonly bucket: string;
  readonly prefix: string;
}

interface ServerSetting<K extends keyof ServerSettings> {
  readonly key: K;
  readonly env: string;
  readonly flag: string;
  readonly placeholder: string;
  readonly help: string;
  readonly fallback: ServerSettings[K];
  readonly read: (text: string) => ServerSettings[K];
}

const mib = 1024 * 1024;
const logLevels = ['error', 'warn', 'info', 'debug'];

export const serverSettings = [
  define('host', '--host', 'ADDRESS', 'address to listen on', null, String),
  define('port', '--port', 'N', 'port to listen on; 0: any free one', ports.http, atLeast(0)),
  define('weightsDir', '--weights-dir', 'DIR', 'where checkpoints from S3 are kept', paths.weights, String),
  define(
    'terminationLog',
    '--termination-log',
    'FILE',
    'gets the reason when the process gives up',
    paths.terminationMessage,
    String,
  ),
  define(
    'service',
    '--service',
    'NAMESPACE/NAME',
    'the service that it is a replica of, for stream checks',
    null,
    String,
  ),
  define(
    's3CaDir',
    '--s3-ca-dir',
    'DIR',
    'PEM files of further authorities that S3 may use',
    paths.s3Ca,
    String,
  ),
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
    'compatibility',
    '--compatibility',
    'SERVER',
    `serve what clients of this server count on: ${Object.keys(compatibilities).join(', ')}`,
    'none',
    asCompatibility,
  ),
  define('logLevel', '--log-level', 'LEVEL', logLevels.join(', '), 'info', asLogLevel),
  define('maxBodyBytes', '--max-body-bytes', 'BYTES', 'largest request body', 16 * mib, atLeast(1)),
  define(
    'maxBodiesBytes',
    '--max-bodies-bytes',
    'BYTES',
    'request bodies that are held at once, unpacked; without it, a 32nd of the memory, 64 MiB to 512 MiB',
    null,
    atLeast(1),
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
  define(
    'maxWaiting',
    '--max-waiting',
    'N',
    'answers that may wait beyond --max-num-seqs; more are refused with 503',
    1024,
    atLeast(0),
  ),
  define(
    'mostUrgentPriority',
    '--most-urgent-priority',
    'N',
    'lowest priority (-8 to 0, lower is sooner) that requests may ask for where there are no API keys',
    0,
    between(-8, 0),
  ),
  define(
    'storedResponsesBytes',
    '--stored-responses-bytes',
    'BYTES',
    'room for responses of /v1/responses that clients continue or fetch later; without it, none is stored',
    null,
    atLeast(mib),
  ),
  define(
    'storedResponsesUri',
    '--stored-responses-uri',
    's3://BUCKET/PREFIX/',
    'where responses are stored, in the S3 that the checkpoint is in; without it, in memory',
    null,
    asObjectFolder,
  ),
  define(
    'storedResponsesCount',
    '--stored-responses-count',
    'N',
    'responses that are stored at once',
    10_000,
    atLeast(1),
  ),
  define(
    'storedResponsesSeconds',
    '--stored-responses-seconds',
    'SECONDS',
    'time after which a stored response is deleted',
    86_400,
    atLeast(1),
  ),
  define(
    'accountingFileBytes',
    '--accounting-file-bytes',
    'BYTES',
    'size at which a file of the accounting log is followed by another',
    64 * mib,
    atLeast(1),
  ),
  define(
    'requestLog',
    '--request-log',
    's3://BUCKET/PREFIX/',
    'gets a JSON line for each request, in the S3 that the checkpoint is in; without it, none is written',
    null,
    asObjectFolder,
  ),
  define(
    'requestLogText',
    '--request-log-text',
    'BOOL',
    'put prompts and answers into the request log',
    false,
    readBoolean,
  ),
  define('threads', '--threads', 'N', 'compute threads; without it, one per physical core', null, atLeast(1)),
  define(
    'trustRemoteCode',
    '--trust-remote-code',
    'BOOL',
    'accepted, but code from a checkpoint is never run',
    false,
    readBoolean,
  ),
] as const;

/** Where the reason of a failure goes that was met before there was a configuration. */
export function terminationLogOf(env: Readonly<Record<string, string | undefined>>): string {
  return env[serverVariableNames.terminationLog] ?? paths.terminationMessage;
}

function define<K extends keyof ServerSettings>(
  key: K,
  flag: string,
  placeholder: string,
  help: string,
  fallback: ServerSettings[K],
  read: (text: string) => ServerSettings[K],
): ServerSetting<K> {
  return { key, env: serverVariableNames[key], flag, placeholder, help, fallback, read };
}

function atLeast(minimum: number): (text: string) => number {
  return (text) => {
    const value = readInteger(text);
    if (value < minimum) throw new Error(`expected a whole number of at least ${String(minimum)}`);
    return value;
  };
}

function between(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = readInteger(text);
    if (value < minimum || value > maximum)
      throw new Error(`expected a whole number from ${String(minimum)} to ${String(maximum)}`);
    return value;
  };
}

function asObjectFolder(text: string): ObjectFolder {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(text) ?? [];
  if (bucket === '') throw new Error('expected s3://bucket/prefix/');
  return { bucket, prefix: path === '' || path.endsWith('/') ? path : `${path}/` };
}

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

function asCompatibility(text: string): CompatibilityName {
  if (!isCompatibilityName(text))
    throw new Error(`expected one of ${Object.keys(compatibilities).join(', ')}`);
  return text;
}

function asLogLevel(text: string): string {
  if (!logLevels.includes(text)) throw new Error(`expected one of ${logLevels.join(', ')}`);
  return text;
}
