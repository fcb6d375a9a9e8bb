// All attacks on the serving routes, by area. CI runs each in a test of its own; `make prove` runs them all at once.

import { badClients } from '../load/chaos.js';
import type { Attack } from './attack.js';
import { bodyAttacks } from './body-attacks.js';
import { grammarAttacks } from './grammar-attacks.js';
import { keyAttacks } from './key-attacks.js';
import { textAttacks } from './text-attacks.js';

/** What each client may get with others that fill the server. */
const refusedAsBusy = /got: HTTP\/1\.1 (429|503) /;

export const attacks: readonly Attack[] = [
  ...badClients.map(({ client }): Attack => ({
    name: client.name,
    run: async ({ port, random, over }) => {
      await client({ port, random, over }).catch((error: unknown) => {
        if (!refusedAsBusy.test((error as Error).message)) throw error;
      });
    },
  })),
  ...bodyAttacks,
  ...textAttacks,
  ...grammarAttacks,
  ...keyAttacks,
];
