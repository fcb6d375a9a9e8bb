// Writes the structs that cross the bridge, as C++. Run by `npm run generate`.

import { formatCpp } from './format-cpp.js';
import { writeGenerated } from '../../crds/scripts/write-generated.js';
import { bridgeText } from './bridge-text.js';
import { readDeclarations } from './declarations.js';
import { structsHeader } from './structs-header.js';

await writeGenerated({
  'native/src/bridge/structs.h': formatCpp(structsHeader(readDeclarations(bridgeText()))),
});
