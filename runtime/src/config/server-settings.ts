// Settings of this process alone: who reaches it, what it admits, what it keeps, where it writes. They have defaults,
// no field in the engine config, and one table of names, like the others.

import { paths, readBoolean, serverVariableNames } from '@llmservice/crds';
import { compatibilities, isCompatibilityName, type CompatibilityName } from '../request/compatibility.js';
import { adapterSettings, type AdapterSettings } from './adapter-settings.js';
import { disaggregationSettings, type DisaggregationSettings } from './disaggregation-settings.js';
import { keepingSettings, type KeepingSettings } from './keeping-settings.js';
import { nodeSettings, type NodeVariables } from './node-settings.js';
import { reachSettings, type ReachSettings } from './reach-settings.js';
import { atLeast, between, defineFor, mib } from './server-setting.js';

interface ProcessSettings {
  /** Pulled checkpoints lie in folders of their own below it. */
  readonly weightsDir: string;
  readonly terminationLog: string;
  /** NAMESPACE/NAME of the service that the process is a replica of; null: of none. */
  readonly service: string | null;
  /** Folder of PEM files to trust for S3 besides the system's roots; need not exist. */
  readonly s3CaDir: string;
  /** The server whose clients find what they count on. */
  readonly compatibility: CompatibilityName;
  readonly logLevel: string;
  readonly maxBodyBytes: number;
  /** Of all bodies together, unpacked; null: a part of the memory that the process may use. */
  readonly maxBodiesBytes: number | null;
  /** Answers that may wait for the engine beyond those that run; more are refused with 503. */
  readonly maxWaiting: number;
  /** The lowest that a request may send as its priority where there are no API keys, which have bounds of their own. */
  readonly mostUrgentPriority: number;
  /** Whether requests may bring chat templates of their own. */
  readonly trustRequestChatTemplate: boolean;
  /** Compute threads of the engine; null: one per physical core. */
  readonly threads: number | null;
  /** Accepted for the sake of existing values files; code from a checkpoint is never run. */
  readonly trustRemoteCode: boolean;
}

export interface ServerSettings
  extends
    ReachSettings,
    ProcessSettings,
    KeepingSettings,
    AdapterSettings,
    NodeVariables,
    DisaggregationSettings {}

const logLevels = ['error', 'warn', 'info', 'debug'];

const define = defineFor<ProcessSettings>();

const processSettings = [
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
    'trustRequestChatTemplate',
    '--trust-request-chat-template',
    'BOOL',
    'let requests bring a chat_template, which runs within bounds of time and memory',
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

export const serverSettings = [
  ...reachSettings,
  ...processSettings,
  ...adapterSettings,
  ...keepingSettings,
  ...nodeSettings,
  ...disaggregationSettings,
] as const;

/** Where the reason of a failure goes that was met before there was a configuration. */
export function terminationLogOf(env: Readonly<Record<string, string | undefined>>): string {
  return env[serverVariableNames.terminationLog] ?? paths.terminationMessage;
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
