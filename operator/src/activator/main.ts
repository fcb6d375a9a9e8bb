// Entry of the activator. Of the Kubernetes client nothing may be loaded before it is settled what of it is.

import { loadKubeConfigAlone } from '../kube/kube-config-alone.js';

loadKubeConfigAlone();
const { runActivator } = await import('./run-activator.js');

runActivator().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  },
);
