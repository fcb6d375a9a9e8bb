// A connection to a port of a pod through the API server, as kubectl port-forward makes it, without a port on this machine.

import { PassThrough, Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { PortForward } from '@kubernetes/client-node';
import { ports, runtimeContainer } from '@llmservice/crds';
import { ClusterError, type Connection } from '../kube/connect.js';
import type { Pod } from '../kube/types.js';

/** Where a pod's server answers, and whether by HTTPS: by the names of its ports. */
export function serverOf({ spec }: Pod): { readonly port: number; readonly secure: boolean } {
  const runtime = spec?.containers?.find(({ name }) => name === runtimeContainer);
  const secure = runtime?.ports?.find(({ name }) => name === 'https');
  const plain = runtime?.ports?.find(({ name }) => name === 'http');
  return { port: (secure ?? plain)?.containerPort ?? ports.http, secure: secure !== undefined };
}

/** @throws ClusterError where the API server or the kubelet refuses */
export async function connectPod({ config, namespace }: Connection, pod: Pod): Promise<Duplex> {
  const { name } = pod.metadata;
  const { port, secure } = serverOf(pod);
  const [toPod, fromPod, complaints] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const socket = await open(config, { namespace, name, port }, { toPod, fromPod, complaints });
  const stream = Duplex.from({ readable: fromPod, writable: toPod });
  complaints.once('data', (text: Buffer) => {
    stream.destroy(new ClusterError(`port ${port} of the pod ${name}: ${text.toString('utf8').trim()}`));
  });
  socket.addEventListener('close', () => fromPod.end());
  stream.once('close', () => socket.close());
  if (!secure) return stream;
  // The certificate is for the name of the Service; who led to this pod is the API server, whose certificate was checked.
  return connectTls({ socket: stream, rejectUnauthorized: false });
}

/** The part of a WebSocket that is used: the client's own types of it are not to be had without the package that it uses. */
interface Socket {
  addEventListener(type: 'close', listener: () => void): void;
  close(): void;
}

interface Channels {
  readonly toPod: PassThrough;
  readonly fromPod: PassThrough;
  readonly complaints: PassThrough;
}

async function open(
  config: Connection['config'],
  { namespace, name, port }: { namespace: string; name: string; port: number },
  { toPod, fromPod, complaints }: Channels,
): Promise<Socket> {
  try {
    const forward = new PortForward(config);
    return (await forward.portForward(namespace, name, [port], fromPod, complaints, toPod)) as Socket;
  } catch (error) {
    const { message = 'refused' } = error as Partial<Error>;
    throw new ClusterError(
      `the pod ${name} cannot be reached through the API server (rights: create and get pods/portforward): ${message}`,
      { cause: error },
    );
  }
}
