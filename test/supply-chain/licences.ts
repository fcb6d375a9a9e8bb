// The page of third-party software in images, from npm's own bill of materials: every licence must be one of those that
// may be shipped under Apache-2.0. usage: tsx test/supply-chain/licences.ts [--write]

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const page = 'deploy/release/third-party.md';
const allowed: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
]);

interface Component {
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly purl: string;
  readonly properties?: readonly { readonly name: string }[];
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string };
    readonly expression?: string;
  }[];
}

interface Shipped {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

const versionIn = (file: string, pattern: RegExp): string => {
  const version = pattern.exec(readFileSync(file, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${file}: no version found`);
  return version;
};

const xgrammar = versionIn('native/xgrammar/provide.sh', /^version=(.*)$/m);

/** What the native addon has compiled in. */
const compiledIn: readonly Shipped[] = [
  { name: 'XGrammar', version: xgrammar, licence: 'Apache-2.0' },
  // Headers in its package.
  { name: 'DLPack', version: `of XGrammar ${xgrammar}`, licence: 'Apache-2.0' },
  { name: 'PicoJSON', version: `of XGrammar ${xgrammar}`, licence: 'BSD-2-Clause' },
  { name: 'JSON for Modern C++', version: 'of the build machine', licence: 'MIT' },
  { name: 'xxHash', version: 'of the build machine', licence: 'BSD-2-Clause' },
];

/** Debian's shared libraries beside the addon, each a file of its own that can be exchanged (deploy/local/stage.sh). */
const besideIt: readonly Shipped[] = [
  { name: 'UCX', version: 'of the build machine', licence: 'BSD-3-Clause' },
  { name: 'libnuma', version: 'of the build machine', licence: 'LGPL-2.1-only' },
];

function fromNpm(): Shipped[] {
  const bill = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx'], {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { components } = JSON.parse(bill) as { components: readonly Component[] };
  return (
    components
      .filter(({ purl }) => !purl.startsWith('pkg:npm/%40llmservice/'))
      // npm's own --omit=dev also drops what a workspace ships and the root's tests use.
      .filter(({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'))
      .map(({ name, group, version, licenses = [] }) => ({
        name: group === undefined || name.startsWith('@') ? name : `${group}/${name}`,
        version,
        licence: licenses
          .map(({ license, expression }) => expression ?? license?.id ?? license?.name)
          .join(' AND '),
      }))
  );
}

/** `(A OR B)` is allowed where one of them is. */
const isAllowed = (licence: string): boolean =>
  licence !== '' &&
  licence.split(' AND ').every((part) =>
    part
      .replaceAll(/[()]/g, '')
      .split(' OR ')
      .some((id) => allowed.has(id)),
  );

const linked = [...compiledIn, ...fromNpm()];
const shipped = [...compiledIn, ...besideIt, ...fromNpm()];
const refused = linked.filter(({ licence }) => !isAllowed(licence));
for (const { name, version, licence } of refused) {
  console.log(`${name} ${version}: licence "${licence}" is not among ${[...allowed].join(', ')}`);
}
const rows = [...new Set(shipped.map((each) => `| ${each.name} | ${each.version} | ${each.licence} |`))];
const text = `# Third-party software in the images

Written by \`npx tsx test/supply-chain/licences.ts --write\`; \`make check\` compares. Beside these the images hold Node and the
packages of their base image, and the GPU images what [GPUs](../docs/gpu.md) names.

| software | version | licence |
|---|---|---|
${rows.join('\n')}
`;
if (process.argv.includes('--write')) writeFileSync(page, text);
const isFresh = readFileSync(page, 'utf8') === text;
if (!isFresh) console.log(`${page} is stale: run npx tsx test/supply-chain/licences.ts --write`);
if (refused.length > 0 || !isFresh) process.exit(1);
console.log(`${String(rows.length)} licences are allowed`);
