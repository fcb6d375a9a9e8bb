// `llmservice plan` as people and CI run it: arguments, manifests and environment in, report and exit status out.

import { fileURLToPath } from 'node:url';
import { run } from '../processes.js';

const program = fileURLToPath(new URL('../../cli/bin/llmservice.js', import.meta.url));

interface Outcome {
  readonly code: number | null;
  readonly text: string;
  readonly stderr: string;
  /** Of `-o json`. */
  readonly report: () => Report;
}

interface Report {
  readonly exitCode: number;
  readonly problems: string[];
  readonly passedOver: { kind: string }[];
  readonly services: {
    service: string;
    verdict: string;
    message: string;
    memoryPlan: { maxModelLen: number } | null;
    objects: { kind: string; metadata: { name: string } }[];
    disruption: { kind: string } | null;
    cost: { perHour: number; estimates: { perMillionTokens: number }[] | null } | null;
    changes: { kind: string; change: string; differences: { path: string }[] }[] | null;
  }[];
}

export async function plan(
  args: readonly string[],
  input = '',
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const offline = { NODE_OPTIONS: '', AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
  const result = await run(process.execPath, [program, 'plan', ...args], input, { ...offline, ...env });
  const { code, stdout, stderr } = result;
  return { code, text: stdout, stderr, report: () => JSON.parse(stdout) as Report };
}

export const manifests = (...objects: object[]): string =>
  objects.map((object) => `---\n${JSON.stringify(object)}\n`).join('');
