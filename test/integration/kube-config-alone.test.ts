// Which modules of the Kubernetes client the programs of pods load, as they are built: each is started with settings that it refuses.

import { expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { run } from '../processes.js';

/** Prints each module of the client that is loaded. */
const watching = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load: (url, context, next) => {
      const [, module] = /client-node\\/dist\\/(.*)/.exec(url) ?? [];
      if (module !== undefined) console.log('loaded ' + module);
      return next(url, context);
    },
  });`)}`;

test.each(['main.js', 'activator/main.js', 'wait.js'])(
  '%s has no clients of APIs in memory',
  async (program) => {
    const entry = fileURLToPath(new URL(`../../operator/dist/${program}`, import.meta.url));
    const refused = { NODE_OPTIONS: '', PORT: 'none' };
    const { code, stdout } = await run(
      process.execPath,
      ['--import', watching, entry, '--none'],
      '',
      refused,
    );
    expect(code).not.toBe(0);
    const loaded = stdout.split('\n').filter((line) => line.startsWith('loaded '));
    expect(loaded).toContain('loaded config.js');
    expect(loaded.filter((line) => /gen\/|index\.js/.test(line))).toEqual([]);
  },
);
