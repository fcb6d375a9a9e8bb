// Installs the packages of clients in .local/agents, once for each version.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../processes.js';
import type { Packages } from './client.js';

const golden = join(repository, 'test/golden');

/** Folder of their programs. */
export function install(packages: Packages): string {
  return packages.from === 'npm' ? installNpm(packages.specs) : installPip(packages);
}

function installNpm(specs: readonly string[]): string {
  const folder = folderOf(specs[0]!.replace(/@[\d.]+$/, ''));
  ensure(folder, specs.join('\n'), () => {
    execFileSync('npm', ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', ...specs], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  });
  return join(folder, 'node_modules/.bin');
}

function installPip({ requirements, hasTorch = false }: Extract<Packages, { from: 'pip' }>): string {
  const file = join(repository, 'test/agents', requirements);
  const folder = folderOf(requirements.replace(/\.txt$/, ''));
  ensure(folder, readFileSync(file, 'utf8'), () => {
    execFileSync('python3', ['-m', 'venv', folder]);
    // The files have all dependencies; pip would look for a package with an extra anew.
    const options = ['--quiet', '--no-deps', '--require-hashes'];
    const files = hasTorch ? [file, join(golden, 'torch.txt')] : [file];
    const wanted = files.flatMap((each) => ['--requirement', each]);
    execFileSync(join(folder, 'bin/pip'), ['install', ...options, ...wanted], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (hasTorch) makeStandIns(join(folder, 'bin/python'));
  });
  return join(folder, 'bin');
}

/** Of the CUDA libraries that torch links: the index has no other torch. */
function makeStandIns(python: string): void {
  const place = 'import sysconfig; print(sysconfig.get_path("purelib"))';
  const packages = execFileSync(python, ['-c', place], { encoding: 'utf8' }).trim();
  execFileSync(python, [join(golden, 'make_stand_ins.py'), packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

const folderOf = (name: string): string =>
  join(repository, '.local/agents', name.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, ''));

/** @param what of which there is a note in the folder, once it is there */
function ensure(folder: string, what: string, make: () => void): void {
  const note = join(folder, 'installed');
  if (existsSync(note) && readFileSync(note, 'utf8') === what) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  make();
  writeFileSync(note, what);
}
