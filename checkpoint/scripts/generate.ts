// Writes the tables of the page of weight formats, from what the checkpoint code reads. Run by `npm run generate`.

import { readFile } from 'node:fs/promises';
import { writeGenerated } from '../../crds/scripts/write-generated.js';
import { refusedSamples, storedSamples } from './format-samples.js';
import { modelTypesTable } from './model-types.js';
import { ggufTable, refusedTable, storedTable, withTables } from './weight-formats.js';

const page = 'deploy/docs/weight-formats.md';
const text = await readFile(new URL(`../../${page}`, import.meta.url), 'utf8');

await writeGenerated({
  [page]: withTables(text, {
    models: modelTypesTable(),
    stored: storedTable(storedSamples),
    gguf: ggufTable(),
    refused: refusedTable(refusedSamples),
  }),
});
