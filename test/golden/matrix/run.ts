// `make golden`: every combination of the matrix against the reference, a line for each engine as it is done, and at the
// end how many failed, why, and a table of combinations by architecture. `run.ts TEXT` takes models whose name has TEXT.

import { modelsDir } from '../golden-values.js';
import { checkCombination, loadChoice } from './check-combination.js';
import { allEngines, architectureOf, combinationsOf, tensors } from './combinations.js';
import type { Combination, EngineChoice } from './combinations.js';

interface Outcome {
  readonly combination: Combination;
  readonly problems: readonly string[];
}

const wanted = process.argv[2] ?? '';
const outcomes: Outcome[] = [];
for (const engine of allEngines().filter(({ model }) => model.includes(wanted))) {
  const began = performance.now();
  const found = await checkEngine(engine);
  outcomes.push(...found);
  const failed = found.filter(({ problems }) => problems.length > 0).length;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const ranks = `${engine.tensor} rank${engine.tensor === 1 ? '' : 's'}`;
  const name = `${engine.model} in ${engine.dtype} on ${ranks}, speculation ${engine.speculation}`;
  console.log(`${name}: ${found.length} combinations, ${failed} failed, ${seconds} s`);
}
console.log(`\n${table(outcomes)}\n`);
for (const { combination, problems } of outcomes) {
  for (const problem of problems) console.log(`${JSON.stringify(combination)}: ${problem}`);
}
const failed = outcomes.filter(({ problems }) => problems.length > 0).length;
console.log(`${outcomes.length} combinations, ${failed} failed`);
process.exitCode = failed === 0 && outcomes.length > 0 ? 0 : 1;

async function checkEngine(choice: EngineChoice): Promise<Outcome[]> {
  const combinations = combinationsOf(choice);
  try {
    const engine = await loadChoice(choice, modelsDir);
    try {
      const found: Outcome[] = [];
      for (const combination of combinations) {
        const problems = await checkCombination(engine, combination);
        found.push({ combination, problems });
      }
      return found;
    } finally {
      await engine.dispose();
    }
  } catch (error) {
    return combinations.map((combination) => ({ combination, problems: [(error as Error).message] }));
  }
}

/** Passed of all, by architecture and ranks. */
function table(all: readonly Outcome[]): string {
  const architectures = [...new Set(all.map(({ combination }) => architectureOf(combination.model)))];
  const lines = architectures.map((architecture) => {
    const cells = tensors.map((tensor) => {
      const of = all.filter(
        ({ combination: { model, tensor: ranks } }) =>
          ranks === tensor && architectureOf(model) === architecture,
      );
      return `${of.filter(({ problems }) => problems.length === 0).length} of ${of.length}`;
    });
    return `| ${architecture} | ${cells.join(' | ')} |`;
  });
  const head = `| architecture | ${tensors.map((tensor) => `tp ${tensor}`).join(' | ')} |`;
  return [head, `|---|${'---|'.repeat(tensors.length)}`, ...lines].join('\n');
}
