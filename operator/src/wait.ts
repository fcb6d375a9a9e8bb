// `node operator/dist/wait.js NAMESPACE/NAME accepted|serving TIMEOUT_SECONDS` waits for a service, as a chart's hook
// does after an install or upgrade. Of the Kubernetes client nothing may be loaded before it is settled what of it is.

import { loadKubeConfigAlone } from './kube/kube-config-alone.js';

loadKubeConfigAlone();
const { runWait } = await import('./run-wait.js');
process.exitCode = await runWait(process.argv.slice(2));
