// How long work takes, by the time that this process computes: however busy the machine, a bound of it holds.

/** Milliseconds of processors, of all threads of the process, since the clock was made. */
export function cpuClock(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}
