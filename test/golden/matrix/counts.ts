// How many golden models and combinations there are, by architecture: what CI runs of them and what `make golden` runs. The README
// of the goldens has the table, which `npx tsx test/golden/matrix/write-counts.ts` writes; matrix.test.ts compares it.

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { allEngines, architectureOf, combinationsOf, diagonal, models, tensors } from './combinations.js';

export const readme = fileURLToPath(new URL('../README.md', import.meta.url));
const [begin, end] = ['<!-- counts: begin -->\n', '<!-- counts: end -->'];

/** @throws Error where there are no marks */
export function withCounts(text: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`${readme} lacks ${begin.trim()} or ${end}`);
  return text.slice(0, from + begin.length) + counts() + text.slice(to);
}

function counts(): string {
  const all = allEngines().flatMap(combinationsOf);
  const inCi = diagonal();
  const rowOf = (name: string, of: (model: string) => boolean): string => {
    const here = all.filter(({ model }) => of(model));
    const cells = [
      models.filter(of).length,
      inCi.filter(({ model }) => of(model)).length,
      here.length,
      ...tensors.map((ranks) => here.filter(({ tensor }) => tensor === ranks).length),
    ];
    return `| ${name} | ${cells.map(String).join(' | ')} |`;
  };
  const architectures = [...new Set(models.map(architectureOf))];
  const inFolder = (name: string): string =>
    String(readdirSync(new URL(`../${name}/`, import.meta.url)).length);
  return [
    `| architecture | models | combinations in CI | by \`make golden\` | ${tensors.map((ranks) => `tp ${ranks}`).join(' | ')} |`,
    `|---|---|---|---|${'---|'.repeat(tensors.length)}`,
    ...architectures.map((name) => rowOf(`\`${name}\``, (model) => architectureOf(model) === name)),
    rowOf('all', () => true),
    '',
    `Both run whole, outside of the matrix: ${inFolder('encoders')} encoders, ${inFolder('classifiers')} classifiers, ` +
      `${inFolder('drafters')} draft models, ${inFolder('adapters')} adapters.`,
    '',
  ].join('\n');
}
