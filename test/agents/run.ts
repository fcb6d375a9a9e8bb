// Clients of others against the server: each finishes one task, whatever it sends on the way. Installs them once.
// usage: tsx test/agents/run.ts [NAME...]   (root, for networks of their own; what is built must be)
// What each sent and was answered is in .build/reports/agents.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../processes.js';
import { codingAgents } from './coding-agents.js';
import { libraries } from './libraries.js';
import { measurements } from './measurements.js';
import { tryClient, type Trial } from './try-client.js';

const names = process.argv.slice(2);
const clients = [...codingAgents, ...libraries, ...measurements].filter(
  ({ name }) => names.length === 0 || names.includes(name),
);
const reports = join(repository, '.build/reports/agents');
mkdirSync(reports, { recursive: true });
console.log('| client | packages | protocol | requests | outcome |\n|---|---|---|---|---|');
for (const client of clients) {
  const { name, protocol, packages } = client;
  const trial: Trial = await tryClient(client).catch((error: unknown) => ({
    exchanges: [],
    output: '',
    faults: [(error as Error).message],
  }));
  writeFileSync(join(reports, `${name}.json`), JSON.stringify(trial, null, 2));
  const versions = packages.from === 'npm' ? packages.specs.join(', ') : pinnedBy(packages.requirements);
  const outcome = trial.faults.length === 0 ? 'did its task' : 'FAILED';
  console.log(`| ${[name, versions, protocol, trial.exchanges.length, outcome].join(' | ')} |`);
  for (const fault of trial.faults) console.log(`${name}: ${fault}`);
  if (trial.faults.length > 0) process.exitCode = 1;
}

/** What the requirements were made for: the first package of the file beside them. */
function pinnedBy(requirements: string): string {
  const wanted = readFileSync(join(repository, 'test/agents', requirements.replace(/txt$/, 'in')), 'utf8');
  return wanted.split('\n').find((line) => line.includes('==')) ?? requirements;
}
