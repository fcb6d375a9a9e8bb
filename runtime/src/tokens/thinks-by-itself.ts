// Whether a model thinks where nobody says that it should: by the prompt that its chat template then writes.

import type { ChatRenderer } from './template-renderer.js';

/** True where to switch thinking off makes another prompt, or where the answer begins within the reasoning. */
export async function thinksByItself(template: ChatRenderer): Promise<boolean> {
  const promptWith = (kwargs: Readonly<Record<string, unknown>>): Promise<string> =>
    template.render({ messages: [{ role: 'user', content: 'x' }], kwargs });
  try {
    const [unasked, off] = await Promise.all([promptWith({}), promptWith({ enable_thinking: false })]);
    return unasked !== off || unasked.trimEnd().endsWith('<think>');
  } catch {
    // A template that cannot write this conversation says nothing of it.
    return false;
  }
}
