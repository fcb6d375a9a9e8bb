// Writes everything that follows from the server's tables of routes and fields, and from those of kernels. Run by
// `npm run generate`.

import { writeGenerated } from '../../crds/scripts/write-generated.js';
import { conformancePage } from '../../test/conformance/conformance-page.js';
import { suitesPage } from '../../test/conformance/suites/suites-page.js';
import { mi300xPage } from '../../test/gpu/mi300x-page.js';
import { makeOpenApiDocument } from '../src/http/api/openapi-document.js';
import { apiPage } from './api-page.js';

await writeGenerated({
  'runtime/openapi.json': `${JSON.stringify(makeOpenApiDocument([]), null, 1)}\n`,
  'deploy/docs/api.md': apiPage(),
  'deploy/docs/mi300x.md': mi300xPage(),
  'test/conformance/README.md': conformancePage(),
  'test/conformance/suites/README.md': suitesPage(),
});
