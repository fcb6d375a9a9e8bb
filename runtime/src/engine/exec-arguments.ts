/**
 * Of Node, for the processes of a replica; images start the server with the same. Its own choice since release 22 lets the
 * young generation of each process grow to 192 MB before it is looked through.
 */
export const execArguments: readonly string[] = ['--max-semi-space-size=16'];
