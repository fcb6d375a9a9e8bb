// Images start the server as the server starts its engine: an argument of Node in one place alone would bound one process.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { execArguments } from './exec-arguments.js';

const folder = new URL('../../../deploy/docker/', import.meta.url);
const images = readdirSync(folder).filter((name) => /^runtime-.*\.Dockerfile$/.test(name));

test.each(images)('%s starts the server with the arguments of a replica, below an init process', (image) => {
  const entrypoint = /^ENTRYPOINT (.*)$/m.exec(readFileSync(new URL(image, folder), 'utf8'))?.[1] ?? '';
  expect(JSON.parse(entrypoint)).toEqual(['tini', '--', 'node', ...execArguments, 'runtime/dist/main.js']);
});
