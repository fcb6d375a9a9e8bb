// Of the Kubernetes client the operator, the activator and the hook that waits use KubeConfig alone. Its package also loads a client and
// the models of every API, whose sources and code stay in memory for as long as the process lives: 32 MiB of an empty process.

import { registerHooks } from 'node:module';

const client = '@kubernetes/client-node';
/** KubeConfig takes these two from there, for making clients of the APIs, which these processes never have it do. */
const noApis = `data:text/javascript,${encodeURIComponent(
  'export const createConfiguration = () => { throw new Error("this process has KubeConfig alone"); };' +
    'export class ServerConfiguration {}',
)}`;

/** Before the first import of the client, and for modules that take nothing but KubeConfig from it. */
export function loadKubeConfigAlone(): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === client) return next(`${client}/dist/config.js`, context);
      const isOfConfig = context.parentURL?.endsWith(`/${client}/dist/config.js`) === true;
      return isOfConfig && specifier === './gen/index.js'
        ? { url: noApis, format: 'module', shortCircuit: true }
        : next(specifier, context);
    },
  });
}
