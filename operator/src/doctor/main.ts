// Entry of `llmservice doctor`: arguments, what is read of the cluster, the checks, one report, the exit status.

import { exitCodeOf as statusOf } from '../command-line.js';
import { connect } from '../kube/connect.js';
import { version } from '../version.js';
import { diagnose, exitCodeOf } from './diagnose.js';
import { parseDoctorOptions, usage, type DoctorOptions } from './options.js';
import { readFacts } from './read-facts.js';
import { describeFindings } from './report.js';

async function main(args: readonly string[]): Promise<number> {
  const options = parseDoctorOptions(args);
  if (options !== null) return examine(options);
  process.stdout.write(usage);
  return 0;
}

async function examine({ cluster, service, operatorNamespace, output }: DoctorOptions): Promise<number> {
  const connection = connect(cluster);
  try {
    const scope = { namespace: connection.namespace, service, operatorNamespace };
    const findings = diagnose(await readFacts(connection, scope), version);
    const exitCode = exitCodeOf(findings);
    process.stdout.write(
      output === 'json' ? `${JSON.stringify({ exitCode, findings }, null, 2)}\n` : describeFindings(findings),
    );
    return exitCode;
  } finally {
    connection.client.close();
  }
}

process.exitCode = await statusOf('llmservice doctor', () => main(process.argv.slice(3)));
