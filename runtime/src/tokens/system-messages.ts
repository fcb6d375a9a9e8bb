// System messages behind others: agents put one where the client learns of something new, and several templates refuse it
// there or leave it out. Of these the first system message says it.

type Messages = readonly Readonly<Record<string, unknown>>[];

const mark = 'a later system message';
const probe: Messages = [
  { role: 'user', content: 'a' },
  { role: 'system', content: mark },
  { role: 'user', content: 'b' },
];

const isSystem = ({ role }: Messages[number]): boolean => role === 'system';

/**
 * @param render of the template: null where it has not found out
 * @param staysLast whether the last message has to remain the last
 */
export function withSystemsShown(
  messages: Messages,
  staysLast: boolean,
  render: (messages: Messages) => string | null,
): Messages {
  const [movable, last] = staysLast ? [messages.slice(0, -1), messages.slice(-1)] : [messages, []];
  if (!movable.slice(1).some(isSystem) || showsLater(render)) return messages;
  const content = movable.filter(isSystem).map((message) => String(message['content']));
  const others = movable.filter((message) => !isSystem(message));
  return [{ role: 'system', content: content.join('\n\n') }, ...others, ...last];
}

function showsLater(render: (messages: Messages) => string | null): boolean {
  try {
    return render(probe)?.includes(mark) ?? true;
  } catch {
    return false;
  }
}
