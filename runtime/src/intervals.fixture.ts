// For jest's fake timers: intervals pass where a test has them pass, and all else runs by the machine's clock.

/** What is not to be faked. */
export const realTimers = [
  ...(['Date', 'hrtime', 'performance', 'nextTick', 'queueMicrotask'] as const),
  ...(['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const),
];
