// Writes the table of counts into the README of the goldens.

import { readFileSync, writeFileSync } from 'node:fs';

import { readme, withCounts } from './counts.js';

writeFileSync(readme, withCounts(readFileSync(readme, 'utf8')));
