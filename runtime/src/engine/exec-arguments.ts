/**
 * Of Node, for the processes of a replica; images start the server with the same. Without them Node looks through a
 * young generation only at 192 MB, and lets the rest grow to four times what lives before it is collected: how much
 * memory a replica takes would be a matter of luck.
 */
export const execArguments: readonly string[] = ['--max-semi-space-size=16', '--heap-growing-percent=50'];
