// Before the first e2e test: the images of this checkout in the cluster, the demo model in S3, the operator installed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

export default async function install(): Promise<void> {
  const child = spawn('deploy/local/demo.sh', ['operator'], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error('deploy/local/demo.sh operator failed; its output says why');
}
