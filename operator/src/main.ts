// Entry of the operator. Of the Kubernetes client nothing may be loaded before it is settled what of it is.

import { loadKubeConfigAlone } from './kube/kube-config-alone.js';

loadKubeConfigAlone();
const { runOperator } = await import('./run-operator.js');

runOperator().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  },
);
