// An InferencePool as the operator plans it, on a real API server; the published endpoint picker, with the arguments and by
// the rights of the plan; and Envoy before it. Pods are replicas on this machine, each on an address of its own.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { labels, ports as podPorts } from '@llmservice/crds';
import { collectionPath, resourceOf } from '../../../operator/src/kube/resources.js';
import type { KubeObject } from '../../../operator/src/kube/types.js';
import { planEndpointPicker } from '../../../operator/src/plan/traffic/endpoint-picker.js';
import { wantedService } from '../../../operator/src/resource/wanted-service.fixture.js';
import { ApiServer } from '../../integration/api-server.js';
import { Kubectl } from '../../integration/kubectl.js';
import { demoCheckpoint, ReplicaProcess } from '../../integration/replica-process.js';
import { eventually, freePort, start, stop, toolFolders } from '../../processes.js';
import { envoyConfig } from './envoy-config.js';

const namespace = 'ns';
const service = wantedService({ routing: { host: 'demo.example.org', backend: 'inferencePool' } });

interface PickerPod {
  readonly serviceAccountName: string;
  readonly containers: readonly { readonly args: readonly string[] }[];
}

export class PoolWorld {
  private readonly folder = mkdtempSync(join(tmpdir(), 'llmservice-picker-'));
  private readonly programs: ChildProcess[] = [];
  private replicas: ReplicaProcess[] = [];

  private constructor(
    private readonly api: ApiServer,
    private readonly hosts: readonly string[],
  ) {}

  static async start(replicas: number): Promise<PoolWorld> {
    const hosts = Array.from({ length: replicas }, (_, index) => `127.0.0.${String(index + 2)}`);
    const world = new PoolWorld(await ApiServer.start(), hosts);
    const kubectl = new Kubectl(world.api.kubeConfig());
    const [tool = ''] = toolFolders('endpoint-picker');
    const definitions = [
      'k8s.io_inferencepools',
      'x-k8s.io_inferenceobjectives',
      'x-k8s.io_inferencemodelrewrites',
    ];
    for (const name of definitions) {
      const path = join(tool, '../config/crd/bases', `inference.networking.${name}.yaml`);
      await kubectl.output(['apply', '--server-side', '-f', '-'], readFileSync(path, 'utf8'));
    }
    await kubectl.output(['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
    await kubectl.output(['create', 'namespace', namespace]);
    const objects = planEndpointPicker(service, { image: 'example.org/picker:1', byIstio: false });
    for (const each of objects) await eventually(each.kind, () => world.create(each));
    for (const host of hosts) await world.makePod(host);
    const deployment = objects.find(({ kind }) => kind === 'Deployment');
    const { template } = deployment!['spec'] as { template: { spec: PickerPod } };
    await world.startPicker(join(tool, 'epp'), template.spec);
    return world;
  }

  readonly ports = { picked: 0, inTurn: 0, picker: 0, metrics: 0 };

  /** New ones, whose caches are empty. */
  async restartReplicas(engine: object): Promise<void> {
    for (const replica of this.replicas) await replica.stop();
    this.replicas = [];
    for (const host of this.hosts) {
      const env = { LLMSERVICE_HOST: host, LLMSERVICE_PORT: String(podPorts.http) };
      this.replicas.push(await ReplicaProcess.start({ uri: demoCheckpoint, engine, env }));
    }
    for (const host of this.hosts) {
      await eventually(`the replica on ${host}`, async () => {
        const response = await fetch(`http://${host}:${String(podPorts.http)}/health`);
        return ((await response.json()) as { state: string }).state === 'serving';
      });
    }
  }

  /** Of all replicas, one after the other. */
  async metric(name: string): Promise<number[]> {
    const pages = this.hosts.map(async (host) =>
      (await fetch(`http://${host}:${String(podPorts.http)}/metrics`)).text(),
    );
    return (await Promise.all(pages)).map((page) =>
      Number(new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(page)?.[1]),
    );
  }

  /** What the picker has read of the pods, and the first of what it has logged as errors beside replicas that restart. */
  async pickerReport(): Promise<string[]> {
    const page = await (await fetch(`http://127.0.0.1:${String(this.ports.metrics)}/metrics`)).text();
    const lines = this.log('picker').split('\n');
    const errors = lines.filter(
      (line) => line.includes('"level":"error"') && !/connection (refused|reset)|EOF/.test(line),
    );
    const averages = page.match(/^inference_pool_(average|ready)_.*$/gm) ?? [];
    return [...averages, `${String(errors.length)} errors`, ...errors.slice(0, 3)];
  }

  log(program: 'picker' | 'envoy'): string {
    return readFileSync(join(this.folder, `${program}.log`), 'utf8');
  }

  async stop(): Promise<void> {
    for (const replica of this.replicas) await replica.stop();
    for (const program of this.programs) await stop(program, 'SIGKILL');
    await this.api.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private create(object: KubeObject): Promise<KubeObject> {
    const path = collectionPath(resourceOf(object), namespace);
    return this.api.admin.request({ method: 'POST', path, body: object });
  }

  private async makePod(ip: string): Promise<void> {
    const name = `demo-${ip.replaceAll('.', '-')}`;
    const container = { name: 'runtime', image: 'example.org/runtime:1' };
    await this.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels: { [labels.service]: service.name } },
      spec: { containers: [container] },
    });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await this.api.admin.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
      body: { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions } },
      contentType: 'application/merge-patch+json',
    });
  }

  private async startPicker(program: string, { serviceAccountName, containers }: PickerPod): Promise<void> {
    const config = await this.api.accountConfig(namespace, serviceAccountName);
    const kubeConfig = join(this.folder, 'kubeconfig');
    writeFileSync(kubeConfig, config.exportConfig());
    Object.assign(this.ports, {
      picked: await freePort(),
      inTurn: await freePort(),
      picker: await freePort(),
      metrics: await freePort(),
    });
    const own = [
      `--grpc-port=${String(this.ports.picker)}`,
      `--grpc-health-port=${String(await freePort())}`,
      `--metrics-port=${String(this.ports.metrics)}`,
    ];
    const args = [...(containers[0]?.args ?? []), ...own];
    this.programs.push(start(program, args, join(this.folder, 'picker.log'), { KUBECONFIG: kubeConfig }));
    const envoy = join(this.folder, 'envoy.json');
    writeFileSync(envoy, JSON.stringify(envoyConfig(this.ports, this.hosts, podPorts.http)));
    const path = process.env['ENVOY'] ?? 'envoy';
    const options = ['--disable-hot-restart', '--concurrency', '1', '--log-level', 'warn', '-c', envoy];
    this.programs.push(start(path, options, join(this.folder, 'envoy.log')));
  }
}
