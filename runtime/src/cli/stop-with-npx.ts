// npx starts a command below a shell, which does not pass SIGTERM on: the shell ends, and the command would run without it.

/** How often it checks for its parent. */
const lookMs = 500;

/** Calls `stop` once npx has gone, in a command that it started. */
export function stopWithNpx(
  { env, ppid }: Pick<NodeJS.Process, 'env' | 'ppid'>,
  parent: () => number,
  stop: () => void,
): void {
  if (env['npm_lifecycle_event'] !== 'npx') return;
  const timer = setInterval(() => {
    if (parent() === ppid) return;
    clearInterval(timer);
    stop();
  }, lookMs).unref();
}
