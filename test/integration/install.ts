// Before the first integration test: the programs that these tests start, and those that bring resource definitions for
// them. Their first build on a machine takes longer than any test may.

import { execFileSync } from 'node:child_process';

const started = ['kubernetes', 'etcd', 'versitygw', 'kwok', 'helm', 'helmfile', 'promcheck'];
const read = ['istio-crds', 'inference-crds', 'lws-crds', 'keda-crds', 'prometheus-crds', 'envoy-gateway'];

export default function install(): void {
  execFileSync('deploy/local/tools/build.sh', [...started, ...read], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
