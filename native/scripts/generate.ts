// Writes the structs that cross the bridge, as C++. Run by `npm run generate`.

import { readFile } from 'node:fs/promises';
import { formatCpp } from './format-cpp.js';
import { writeGenerated } from '../../crds/scripts/write-generated.js';
import { readDeclarations } from './declarations.js';
import { structsHeader } from './structs-header.js';

const binding = new URL('../ts/binding.ts', import.meta.url);

await writeGenerated({
  'native/src/bridge/structs.h': formatCpp(
    structsHeader(readDeclarations('binding.ts', await readFile(binding, 'utf8'))),
  ),
});
