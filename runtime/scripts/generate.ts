// Writes everything that follows from the server's tables of routes and fields. Run by `npm run generate`.

import { writeGenerated } from '../../crds/scripts/write-generated.js';
import { conformancePage } from '../../test/conformance/conformance-page.js';
import { makeOpenApiDocument } from '../src/http/openapi-document.js';
import { apiPage } from './api-page.js';

await writeGenerated({
  'runtime/openapi.json': `${JSON.stringify(makeOpenApiDocument([]), null, 1)}\n`,
  'deploy/docs/api.md': apiPage(),
  'test/conformance/README.md': conformancePage(),
});
