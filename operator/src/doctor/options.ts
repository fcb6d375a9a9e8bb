// The arguments of `llmservice doctor`, parsed once.

import { parseFlags, UsageError } from '../command-line.js';
import { clusterFlags, type ClusterChoice } from '../kube/connect.js';

export interface DoctorOptions {
  readonly cluster: ClusterChoice;
  /** Null: all of the namespace. */
  readonly service: string | null;
  readonly operatorNamespace: string | null;
  readonly output: 'text' | 'json';
}

export const usage = `usage: llmservice doctor [SERVICE] [options]

Checks a cluster, and the services of a namespace or one of them. It reads, and changes nothing.

  -n, --namespace NAME            of the services (that of the context)
      --operator-namespace NAME   where the operator is, if you may not look for it everywhere
      --context NAME              of the kubeconfig
      --kubeconfig FILE
      --as USER                   whom to impersonate
  -o, --output text|json          (text)

Exit status: 0 nothing is wrong, 1 a problem, 2 wrong arguments, 3 the cluster could not be read, 4 warnings alone.
`;

const flags = {
  ...clusterFlags,
  'operator-namespace': { type: 'string' },
  output: { type: 'string', short: 'o' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @throws UsageError; null where help is asked for */
export function parseDoctorOptions(args: readonly string[]): DoctorOptions | null {
  const { values, positionals } = parseFlags({ args: [...args], allowPositionals: true, options: flags });
  if (values.help === true) return null;
  const { output = 'text' } = values;
  if (output !== 'text' && output !== 'json') throw new UsageError('--output must be text or json');
  if (positionals.length > 1) throw new UsageError('name one service, or none for all of the namespace');
  return {
    cluster: values,
    service: positionals[0] ?? null,
    operatorNamespace: values['operator-namespace'] ?? null,
    output,
  };
}
