// The arguments of `llmservice plan`, parsed once.

import { parseFlags, UsageError } from '../command-line.js';
import { clusterFlags, type ClusterChoice } from '../kube/connect.js';
import type { Gateway } from '../plan/traffic/routing.js';

export interface PlanOptions {
  /** Files, folders and `-` for standard input. */
  readonly sources: readonly string[];
  /** Of manifests that name none. */
  readonly namespace: string;
  /** Where checkpoints are read instead of buckets: a folder by NAMESPACE/NAME, by NAME, or by '' for every service. */
  readonly folders: ReadonlyMap<string, string>;
  readonly objects: boolean;
  readonly diff: boolean;
  /** For `diff`. */
  readonly cluster: ClusterChoice;
  readonly output: 'text' | 'json';
  /** Of one device, in any currency; null: costs are not shown. */
  readonly pricePerDeviceHour: number | null;
  /** Prompt and output of a sequence, on average over its life. */
  readonly meanTokens: number;
  readonly image: string | null;
  readonly gateway: Gateway | null;
}

export const usage = `usage: llmservice plan -f FILE|FOLDER|- [options]

Says of every LlmService in the manifests whether it fits, and what it would become, and of every LlmGateway whether
it can be served. Other objects are passed over.

  -f, --filename PLACE          a file, a folder or - for standard input; may be given several times
  -n, --namespace NAME          of manifests that name none (default)
      --checkpoint [NAME=]PATH  read the checkpoint from this folder (or file:// URI) instead of its bucket;
                                NAME or NAMESPACE/NAME says of which service, and it may be given several times
      --objects                 print the objects as they would be applied
      --diff                    compare with the cluster of the current kubeconfig
      --kubeconfig FILE, --context NAME, --as USER   another cluster, or as whom, for --diff
      --price-per-device-hour N show what it costs
      --mean-tokens N           tokens of a sequence on average, for the estimate of cost (2048)
      --runtime-image IMAGE     the operator's image of the runtime, for --objects
      --gateway NAMESPACE/NAME  the operator's Gateway, for --objects
  -o, --output text|json        (text)

Exit status: 0 all fit, 1 one does not or is not supported, 2 wrong manifest or argument, 3 a checkpoint or the cluster
could not be read, 4 the memory of a device is not stated.
`;

/** @throws UsageError naming everything that is wrong; null where help is asked for */
export function parsePlanOptions(args: readonly string[]): PlanOptions | null {
  const { values, positionals } = parseFlags({ args: [...args], allowPositionals: true, options: flags });
  if (values.help === true) return null;
  const errors = positionals.map((text) => `${text}: manifests are named by -f`);
  const positive = (flag: string, text: string | undefined, fallback: number | null): number | null => {
    if (text === undefined) return fallback;
    const value = Number(text);
    if (Number.isFinite(value) && value > 0) return value;
    errors.push(`--${flag} must be a number above zero`);
    return fallback;
  };
  const { output = 'text' } = values;
  if (output !== 'text' && output !== 'json') errors.push('--output must be text or json');
  const [gatewayNamespace = '', gatewayName = ''] = values.gateway?.split('/') ?? [];
  if (values.gateway !== undefined && (gatewayNamespace === '' || gatewayName === ''))
    errors.push('--gateway must be NAMESPACE/NAME');
  if (values.filename === undefined) errors.push('-f is required');
  const options = {
    sources: values.filename ?? [],
    namespace: values.namespace ?? 'default',
    folders: new Map((values.checkpoint ?? []).map(parseFolder)),
    objects: values.objects === true,
    diff: values.diff === true,
    cluster: { kubeconfig: values.kubeconfig, context: values.context, as: values.as },
    output: output === 'json' ? 'json' : 'text',
    pricePerDeviceHour: positive('price-per-device-hour', values['price-per-device-hour'], null),
    meanTokens: positive('mean-tokens', values['mean-tokens'], 2048) ?? 2048,
    image: values['runtime-image'] ?? null,
    gateway: values.gateway === undefined ? null : { namespace: gatewayNamespace, name: gatewayName },
  } as const;
  if (errors.length > 0) throw new UsageError(errors.join('; '));
  return options;
}

const flags = {
  filename: { type: 'string', short: 'f', multiple: true },
  ...clusterFlags,
  checkpoint: { type: 'string', multiple: true },
  objects: { type: 'boolean' },
  diff: { type: 'boolean' },
  'price-per-device-hour': { type: 'string' },
  'mean-tokens': { type: 'string' },
  'runtime-image': { type: 'string' },
  gateway: { type: 'string' },
  output: { type: 'string', short: 'o' },
  help: { type: 'boolean', short: 'h' },
} as const;

function parseFolder(text: string): [service: string, folder: string] {
  const [, service = '', place = text] = /^([a-z0-9.-]+(?:\/[a-z0-9.-]+)?)=(.*)$/.exec(text) ?? [];
  return [service, place.replace(/^file:\/\//, '')];
}
