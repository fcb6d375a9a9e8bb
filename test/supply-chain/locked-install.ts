// Is what `npm install` put into node_modules what package-lock.json says, version by version and digest by digest? That
// is what `npm ci` guarantees, which the set-up cannot use: it also wants the optional packages of other platforms, which
// not every registry has. usage: tsx test/supply-chain/locked-install.ts

import { readFileSync } from 'node:fs';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly link?: boolean;
  readonly resolved?: string;
}

function packagesOf(file: string): Readonly<Record<string, LockedPackage>> {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };
  return packages;
}

const locked = packagesOf('package-lock.json');
// npm's own record of what it installed, after it checked each archive's digest.
const installed = packagesOf('node_modules/.package-lock.json');
const isThirdParty = ([path, { link }]: readonly [string, LockedPackage]): boolean =>
  path.includes('node_modules/') && link !== true;

const faults = [
  ...Object.entries(locked)
    .filter(isThirdParty)
    .flatMap(([path, { integrity, optional }]) => [
      ...(integrity === undefined ? [`${path}: package-lock.json has no digest of it`] : []),
      ...(installed[path] === undefined && optional !== true ? [`${path}: not installed`] : []),
    ]),
  ...Object.entries(installed)
    .filter(isThirdParty)
    .flatMap(([path, { version, integrity }]) => {
      const { version: wanted, integrity: digest } = locked[path] ?? {};
      if (wanted === undefined) return [`${path}: installed, and not in package-lock.json`];
      return version === wanted && integrity === digest
        ? []
        : [`${path}: ${String(version)} is installed, package-lock.json has ${wanted} or another digest`];
    }),
];
for (const fault of faults) console.log(fault);
if (faults.length > 0) {
  console.log('remove node_modules and run make build; if it is so again, package-lock.json is stale');
  process.exit(1);
}
console.log(
  `${String(Object.entries(installed).filter(isThirdParty).length)} packages are as package-lock.json says`,
);
