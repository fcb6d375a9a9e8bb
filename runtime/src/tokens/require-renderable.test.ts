import { expect, jest, test } from '@jest/globals';
import type { TextReply } from '../text-processes/protocol.js';
import { ChatTemplate } from './chat-template.js';
import { requireRenderable } from './require-renderable.js';
import { TemplateRenderer } from './template-renderer.js';

type Rendered = Exclude<TextReply, { readonly kind: 'ids' }>;
const replying = (reply: Rendered) => ({ render: jest.fn(() => Promise.resolve(reply)) });
const renderer = (source: string, processes: ReturnType<typeof replying>): TemplateRenderer =>
  new TemplateRenderer(ChatTemplate.compile(source, {})!, processes);
const idle = replying({ kind: 'failed', message: 'a process has nothing to do here' });

test.each([
  ['writes messages', '{% for m in messages %}{{ m.content }}{% endfor %}'],
  ['expects a variable', '{{ functions.list }}'],
  ['refuses of its own accord', "{{ raise_exception('only with documents') }}"],
  ['expects parts of a content', '{% for p in messages[0].content %}{{ p.text + "" }}{% endfor %}'],
  ['expects tools', '{% for t in tools %}{{ t.function.name }}{% endfor %}'],
  ['expects roles of a reranker', '{{ (messages | selectattr("role", "eq", "query") | first).content }}'],
  [
    'has a flaw where no simple conversation meets it',
    '{% if messages | length > 9 %}{{ 1 | no_such }}{% endif %}',
  ],
])('takes a template that %s', async (_, source) => {
  await requireRenderable(renderer(source, idle));
  expect(idle.render).not.toHaveBeenCalled();
});

test.each([
  ['calls what is not there', '{{ render(messages) }}', "'render' is undefined"],
  [
    'uses a filter that is not there',
    '{% if true %}{{ messages | no_such }}{% endif %}',
    "No filter named 'no_such'.",
  ],
  ['adds a number to a text', "{{ 'a' + 1 }}", "unsupported operand type(s) for +: 'str' and 'int'"],
])('names the fault of one that %s', async (_, source, why) => {
  const failure = { reason: 'ChatTemplateInvalid', message: expect.stringContaining(why) };
  await expect(requireRenderable(renderer(source, idle))).rejects.toMatchObject(failure);
});

test('leaves one that takes long to a process, and heeds what came of it', async () => {
  const long = '{% for i in range(99999) %}{% endfor %}';
  await requireRenderable(renderer(long, replying({ kind: 'text', text: '' })));
  const refused = replying({ kind: 'refused', message: 'it takes too much work to be rendered' });
  await expect(requireRenderable(renderer(long, refused))).rejects.toMatchObject({
    reason: 'ChatTemplateInvalid',
    message: expect.stringContaining('it takes too much work'),
  });
});
