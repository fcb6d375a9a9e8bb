// The chat box: one conversation, streamed, with the reasoning folded away.

import { element, make } from './elements.js';
import { answer, type Message } from './server.js';

/** About a line and a half. */
const nearEndPixels = 40;
const messages: Message[] = [];
let running: AbortController | null = null;

export function startChat(): void {
  const form = element('chat-form', HTMLFormElement);
  const question = element('question', HTMLTextAreaElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = question.value.trim();
    if (text === '' || running !== null) return;
    question.value = '';
    void ask(text);
  });
  question.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  element('stop', HTMLButtonElement).addEventListener('click', () => running?.abort());
  element('clear', HTMLButtonElement).addEventListener('click', () => {
    running?.abort();
    messages.length = 0;
    element('conversation', HTMLElement).replaceChildren();
  });
}

async function ask(text: string): Promise<void> {
  const controller = new AbortController();
  begin(controller);
  messages.push({ role: 'user', content: text });
  addTurn('You', text);
  const turn = addTurn('Model');
  try {
    const thinking = element('thinking', HTMLInputElement).checked;
    for await (const { content, reasoning } of answer([...messages], thinking, controller.signal))
      turn.add(content ?? '', reasoning ?? '');
  } catch (error) {
    const stopped = controller.signal.aborted;
    turn.say(make('p', stopped ? 'who' : 'failed', stopped ? 'stopped' : (error as Error).message));
  }
  turn.show();
  remember(turn.text.data);
  if (running === controller) begin(null);
}

/** The model gets what was answered; a question that was not is not asked again with the next. */
function remember(content: string): void {
  // A conversation that was cleared meanwhile begins anew.
  if (messages.length === 0) return;
  if (content === '') messages.pop();
  else messages.push({ role: 'assistant', content });
}

function begin(controller: AbortController | null): void {
  running = controller;
  element('send', HTMLButtonElement).disabled = controller !== null;
  element('stop', HTMLButtonElement).disabled = controller === null;
  element('conversation', HTMLElement).setAttribute('aria-busy', String(controller !== null));
}

interface Turn {
  readonly text: Text;
  /** Shown with the next frame: a fast model says more than a page can lay out piece by piece. */
  add(content: string, reasoning: string): void;
  /** All that was added, at once. */
  show(): void;
  say(note: HTMLElement): void;
}

function addTurn(who: string, content = ''): Turn {
  const conversation = element('conversation', HTMLElement);
  const turn = make('div', 'turn');
  const thoughts = make('details', '');
  const thought = new Text();
  const text = new Text(content);
  thoughts.append(make('summary', '', 'Thinking'), paragraph(thought));
  thoughts.hidden = true;
  turn.append(make('p', 'who', who), thoughts, paragraph(text));
  conversation.append(turn);
  conversation.scrollTo({ top: conversation.scrollHeight });
  const unshown = { content: '', reasoning: '' };
  let frame: number | null = null;
  const show = (): void => {
    if (frame !== null) cancelAnimationFrame(frame);
    frame = null;
    const { scrollHeight, scrollTop, clientHeight } = conversation;
    if (unshown.reasoning !== '') thoughts.hidden = false;
    thought.appendData(unshown.reasoning);
    text.appendData(unshown.content);
    unshown.content = unshown.reasoning = '';
    // Who reads further up is left there.
    if (scrollHeight - scrollTop - clientHeight < nearEndPixels)
      conversation.scrollTo({ top: conversation.scrollHeight });
  };
  return {
    text,
    add: (content, reasoning) => {
      unshown.content += content;
      unshown.reasoning += reasoning;
      frame ??= requestAnimationFrame(show);
    },
    show,
    say: (note) => turn.append(note),
  };
}

function paragraph(text: Text): HTMLElement {
  const made = make('p', 'text');
  made.append(text);
  return made;
}
