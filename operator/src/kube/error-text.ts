/** What an error says. Those of connections may have a code alone. */
export function errorText(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === '' ? (code ?? 'no answer') : message;
}
