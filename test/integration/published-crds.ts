// Custom resource definitions as their projects publish them, from the Go modules that the local cluster's tools pin.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, toolFolders } from '../processes.js';
import type { Kubectl } from './kubectl.js';

const routes = [
  { tool: 'istio-crds', path: '../kubernetes/customresourcedefinitions.gen.yaml' },
  { tool: 'envoy-gateway', path: '../charts/gateway-helm/charts/crds/crds/gatewayapi-crds.yaml' },
];

/** Of istio and of the Gateway API; in place of one that a test wrote itself. */
export function installRouteCrds(kubectl: Kubectl): Promise<void> {
  const names = ['virtualservices.networking.istio.io', 'destinationrules.networking.istio.io'];
  return install(kubectl, routes, names);
}

/** KEDA's ScaledObject. */
export function installKedaCrd(kubectl: Kubectl): Promise<void> {
  const path = '../config/crd/bases/keda.sh_scaledobjects.yaml';
  return install(kubectl, [{ tool: 'keda-crds', path }], ['scaledobjects.keda.sh']);
}

/** InferencePool of the Gateway API Inference Extension. */
export function installInferencePoolCrd(kubectl: Kubectl): Promise<void> {
  const path = '../config/crd/bases/inference.networking.k8s.io_inferencepools.yaml';
  return install(kubectl, [{ tool: 'inference-crds', path }], ['inferencepools.inference.networking.k8s.io']);
}

/** LeaderWorkerSet. */
export function installLeaderWorkerSetCrd(kubectl: Kubectl): Promise<void> {
  const path = '../config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml';
  return install(kubectl, [{ tool: 'lws-crds', path }], ['leaderworkersets.leaderworkerset.x-k8s.io']);
}

/** PodMonitor and PrometheusRule of Prometheus's operator. */
export function installMonitoringCrds(kubectl: Kubectl): Promise<void> {
  const kinds = ['podmonitors', 'prometheusrules'];
  const files = kinds.map((kind) => ({
    tool: 'prometheus-crds',
    path: `../example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
  }));
  return install(
    kubectl,
    files,
    kinds.map((kind) => `${kind}.monitoring.coreos.com`),
  );
}

async function install(
  kubectl: Kubectl,
  files: readonly { tool: string; path: string }[],
  names: readonly string[],
): Promise<void> {
  for (const { tool, path } of files) {
    const [folder = ''] = toolFolders(tool);
    const text = await readFile(join(folder, path), 'utf8');
    await kubectl.output(['apply', '--server-side', '--force-conflicts', '-f', '-'], text);
  }
  // A definition without a status yet is an error to it.
  const wait = ['wait', '--for=condition=Established', '--timeout=30s', 'crd', ...names];
  await eventually('the definitions', () => kubectl.output(wait).then(() => true));
}
