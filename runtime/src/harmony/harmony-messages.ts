// A conversation as the chat templates of Harmony take it: reasoning under their own name for it, one call in a message,
// behind each call its result, and no marker that a client spelled. Pure.

interface Call {
  readonly id?: string | null;
}

/** As `readMessages` gives it. */
type Message = Readonly<Record<string, unknown>> & {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly Call[];
  readonly tool_call_id?: string | null;
};

export function harmonyMessages<Given extends Message>(messages: readonly Given[]): Given[] {
  const made: Given[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i];
    if (message === undefined) continue;
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) {
      made.push(withThinking(message));
      continue;
    }
    const results = resultsAfter(messages, i);
    made.push(...inTurn(message, calls, results));
    i += results.length;
  }
  return made;
}

function resultsAfter<Given extends Message>(messages: readonly Given[], at: number): Given[] {
  const behind = messages.slice(at + 1);
  const end = behind.findIndex(({ role }) => role !== 'tool');
  return end === -1 ? behind : behind.slice(0, end);
}

/** Templates write the first call of a message alone, and know of a result only that it is that of the call before. */
function inTurn<Given extends Message>(
  message: Given,
  calls: readonly Call[],
  results: readonly Given[],
): Given[] {
  const left = [...results];
  return calls.flatMap((call, index) => {
    const known = left.findIndex(({ tool_call_id: id }) => id != null && id === call.id);
    const isLast = index === calls.length - 1;
    // Without ids, results come in the order of their calls.
    const at = known !== -1 ? known : left.findIndex(({ tool_call_id: id }) => id == null);
    const own = isLast ? left.splice(0) : at === -1 ? [] : left.splice(at, 1);
    const thinking = index === 0 ? thoughtBefore(message) : '';
    return [{ ...message, content: '', thinking, tool_calls: [call] }, ...own];
  });
}

/** What was said before a call is a part of the thought: the templates take one or the other. */
const thoughtBefore = (message: Message): string =>
  [reasoningOf(message), message.content].filter((text) => text !== '').join('\n');

function withThinking<Given extends Message>(message: Given): Given {
  const reasoning = reasoningOf(message);
  if (message.role !== 'assistant' || reasoning === '') return message;
  return { ...message, thinking: reasoning };
}

const reasoningOf = ({ reasoning_content: reasoning, thinking }: Message): string =>
  typeof reasoning === 'string' ? reasoning : typeof thinking === 'string' ? thinking : '';

/** Stands in spelled markers; a noncharacter of Unicode, which no text has. */
const cut = '\ufdd0';
/** Parts of a text that are encoded each by itself: of more, which take long, the cuts stay as spaces without width. */
const maxParts = 1000;
const staysCut = '\u200b';

/** Those of messages, and all others that the vocabulary may have. */
const spelled = /<\|(?=\w+\|>)/g;

/** The same value, whose texts and names spell no marker whole. */
export function withMarkersCut<Value>(value: Value): Value {
  const cutText = (text: string): string => text.replace(spelled, `<|${cut}`);
  const cutIn = (each: unknown): unknown => {
    if (typeof each === 'string') return cutText(each);
    if (Array.isArray(each)) return each.map(cutIn);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [cutText(name), cutIn(member)]));
  };
  return cutIn(value) as Value;
}

/** The parts of a text whose spelled markers were cut. */
export function partsAroundCuts(text: string): readonly string[] {
  const parts = text.split(cut);
  if (parts.length <= maxParts) return parts;
  return [...parts.slice(0, maxParts - 1), parts.slice(maxParts - 1).join(staysCut)];
}
