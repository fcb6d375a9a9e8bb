// Looks into one image: every library that the engine asks for has a place, and as the image's user, without a shell and with
// a root that cannot be written, the addon loads, counts no device and the server refuses to start without settings.
// usage: check-image.ts NAME ROOT CONFIG.json [cuda|hip]
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { librariesOf, placesOf } from './libraries.js';

const [name = '', root = '', configFile = '', vendor = ''] = process.argv.slice(2);
const { OCIv1: image } = JSON.parse(readFileSync(configFile, 'utf8')) as {
  OCIv1: {
    config: { User: string; Env: readonly string[]; Entrypoint: readonly string[]; WorkingDir: string };
  };
};
const { User: user, Env: env, Entrypoint: entrypoint, WorkingDir: folder } = image.config;
const problems: string[] = [];
const expect = (holds: boolean, problem: string): void => {
  if (!holds) problems.push(problem);
};

const run = (...command: readonly string[]): { status: number | null; output: string } => {
  const { status, stdout, stderr } = spawnSync(
    join(import.meta.dirname, 'in-image.sh'),
    [root, user, folder, ...command],
    { encoding: 'utf8', env: Object.fromEntries(env.map((entry) => entry.split(/=(.*)/s))) as never },
  );
  return { status, output: `${stdout}${stderr}` };
};

// The loader's cache has the folders that ld.so.conf adds; what lies beside a file is found by its own search path.
const engine = 'app/native/build/Release';
const cache = execFileSync('ldconfig', ['-r', root, '-p'], { encoding: 'utf8' });
const lines = [...cache.matchAll(/^\s*(\S+) \(.*x86-64.*\) => (.+)$/gm)];
const cached = new Map(lines.map(([, library = '', path = '']) => [library, path]));
const find = (library: string): string | null =>
  existsSync(join(root, engine, library)) ? `/${engine}/${library}` : (cached.get(library) ?? null);
for (const file of readdirSync(join(root, engine))) {
  for (const { library, from } of placesOf(librariesOf(join(root, engine, file)), find)) {
    console.log([name, file, library, from ?? 'NOWHERE'].join('\t'));
    expect(from !== null, `${file} asks for ${library}, which nobody brings`);
  }
  // UCX's own libraries are found by the search path of the one that asks for them.
  if (!file.startsWith('llmservice_')) continue;
  const listed = run('/lib64/ld-linux-x86-64.so.2', '--list', `/${engine}/${file}`);
  expect(listed.status === 0, `the image's loader cannot load ${file}: ${listed.output}`);
}

const probe = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gpuDevices } from '@llmservice/native';
const found = ${vendor === '' ? 'null' : `gpuDevices('${vendor}')`};
let written = true;
try { writeFileSync('/app/file', ''); } catch { written = false; }
writeFileSync(process.env.HOME + '/file', '');
const libraries = [...new Set(readFileSync('/proc/self/maps', 'utf8').match(/\\/\\S+(llmservice_|libamd|libhsa)\\S+/g))];
console.log(JSON.stringify({ user: process.getuid() + ':' + process.getgid(), node: process.version, found, written, libraries }));`;
const probed = run('/usr/local/bin/node', '--input-type=module', '-e', probe);
console.log(name, probed.output.trim());
expect(probed.status === 0, `the addon does not load: ${probed.output}`);
if (probed.status === 0) {
  const seen = JSON.parse(probed.output) as {
    user: string;
    found: { devices: readonly unknown[]; problem?: string } | null;
    written: boolean;
    libraries: readonly string[];
  };
  expect(seen.user === user && !user.startsWith('0'), `it runs as ${seen.user}, and the image says ${user}`);
  expect(!seen.written, 'the root can be written');
  if (vendor !== '') {
    expect(seen.found?.devices.length === 0, 'it counts devices where there are none');
    const opened = [
      `llmservice_${vendor}.so`,
      ...(vendor === 'hip' ? ['libamdhip64.so', 'libhsa-runtime64.so'] : []),
    ];
    for (const part of opened)
      expect(
        seen.libraries.some((path) => path.includes(part)),
        `${part} is not loaded: ${seen.found?.problem}`,
      );
  }
}

const [program = '', ...options] = entrypoint;
const started = run(...[program, ...options]);
expect(
  started.status === 1 && started.output.includes('InvalidEngineConfig'),
  `the server does not start: ${started.output}`,
);
expect(run('/bin/sh', '-c', 'true').status !== 0, 'a shell was there to call');

for (const problem of problems) console.error(`${name}: ${problem}`);
console.log(
  `${name}: ${problems.length} problems; ${execFileSync('du', ['-shx', root], { encoding: 'utf8' }).split('\t')[0]}`,
);
process.exit(problems.length === 0 ? 0 : 1);
