import { describe, expect, test } from '@jest/globals';
import { cpuClock } from '../cpu-time.fixture.js';
import { ChatTemplate, ChatTemplateRefusal } from './chat-template.js';

const user = [{ role: 'user', content: 'hi' }];
const simple = '{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}';

function compile(source: string): ChatTemplate {
  return ChatTemplate.compile(source, { bos_token: '<s>' })!;
}

describe('ChatTemplate', () => {
  test('writes messages, special tokens, the generation prompt and kwargs', () => {
    const template = compile(
      simple +
        '{% if add_generation_prompt %}[assistant]{% endif %}{% if enable_thinking is false %}/no{% endif %}',
    );
    expect(template.render({ messages: user })).toBe('<s>[user]hi[assistant]');
    expect(template.render({ messages: user, addGenerationPrompt: false })).toBe('<s>[user]hi');
    expect(template.render({ messages: user, kwargs: { enable_thinking: false } })).toBe(
      '<s>[user]hi[assistant]/no',
    );
  });

  test('gives tools as JSON, and none when there are none', () => {
    const template = compile(
      '{% if tools %}{% for t in tools %}{{ t | tojson }}{% endfor %}{% else %}none{% endif %}',
    );
    expect(template.render({ messages: user, tools: [{ name: 'f', n: 1, s: 'é<' }] })).toBe(
      '{"name": "f", "n": 1, "s": "é<"}',
    );
    expect(template.render({ messages: user })).toBe('none');
  });

  test('picks tool_use from a list of templates when tools are given', () => {
    const template = ChatTemplate.compile(
      [
        { name: 'default', template: 'plain' },
        { name: 'tool_use', template: 'tools' },
      ],
      {},
    )!;
    expect(template.render({ messages: user })).toBe('plain');
    expect(template.render({ messages: user, tools: [{}] })).toBe('tools');
  });

  test('reports the template’s own refusal as a fault of the request', () => {
    const template = compile("{{ raise_exception('System message must be first') }}");
    for (const render of [
      () => template.render({ messages: user }),
      () => template.renderBriefly({ messages: user }),
    ]) {
      expect(render).toThrow(ChatTemplateRefusal);
      expect(render).toThrow('System message must be first');
    }
  });

  test('reports a filter that Jinja has not as a fault of the checkpoint', () => {
    const template = compile("{% if messages[0].content == 'hi' %}{{ 'a' | no_such }}{% endif %}ok");
    for (const render of [
      () => template.render({ messages: user }),
      () => template.renderBriefly({ messages: user }),
    ]) {
      const flaw = { reason: 'ChatTemplateInvalid', message: "chat template: No filter named 'no_such'." };
      expect(render).toThrow(expect.objectContaining(flaw));
    }
    expect(template.render({ messages: [{ role: 'user', content: 'a' }] })).toBe('ok');
  });

  test.each([
    ['loops', '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}'],
    [
      'searches all of a text again and again',
      "{% set a = 'ab' * 9000 %}" + "{% if a.find('c') %}{% endif %}".repeat(9000),
    ],
    [
      'doubles a list',
      '{% set n = namespace(a=[1]) %}{% for i in range(60) %}{% set n.a = n.a + n.a %}{% endfor %}',
    ],
    ['repeats nothing', '{{ [] * 9999999999 }}'],
    ['pads a number', "{{ '%999999999d' % 1 }}{{ '{:>999999999}'.format('a') }}"],
    [
      'asks for the length of a long text',
      "{% set a = '🙂' * 90000 %}" + '{% if a | length %}{% endif %}'.repeat(9000),
    ],
    ['cuts a long text', "{% set a = '🙂' * 90000 %}" + '{% if a[1:] %}{% endif %}'.repeat(9000)],
  ])('stops one that %s within a second', (_, source) => {
    const cpuMs = cpuClock();
    expect(() => compile(source).render({ messages: user })).toThrow('too much work');
    expect(cpuMs()).toBeLessThan(5000);
  });

  test('parses a template of a megabyte of spaces', () => {
    expect(compile(`a${' '.repeat(2 ** 20)}{%- if true %}b{% endif %}`).render({ messages: user })).toBe(
      'ab',
    );
  });

  const inOrder = '{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}';
  const refusing =
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}{{ raise_exception('first!') }}{% endif %}" +
    '[{{ m.role }}]{{ m.content }}{% endfor %}';
  const silent =
    "{% if messages[0].role == 'system' %}[system]{{ messages[0].content }}{% endif %}" +
    "{% for m in messages if m.role != 'system' %}[{{ m.role }}]{{ m.content }}{% endfor %}";
  test.each([
    ['at its place', inOrder, '[system]A[user]hi[system]B[assistant]yes[system]C'],
    ['first where the template refuses it', refusing, '[system]A\n\nB\n\nC[user]hi[assistant]yes'],
    ['first where the template leaves it out', silent, '[system]A\n\nB\n\nC[user]hi[assistant]yes'],
  ])('shows a later system message %s', (_, source, text) => {
    const messages = [
      { role: 'system', content: 'A' },
      ...user,
      { role: 'system', content: 'B' },
      { role: 'assistant', content: 'yes' },
      { role: 'system', content: 'C' },
    ];
    expect(compile(source).render({ messages })).toBe(text);
    expect(compile(source).renderBriefly({ messages })).toBe(text);
  });

  test('shows a system message first where there is no other, and leaves the one that the prompt ends in', () => {
    const messages = [...user, { role: 'system', content: 'A' }, ...user];
    expect(compile(refusing).render({ messages })).toBe('[system]A[user]hi[user]hi');
    const last = { messages: messages.slice(0, 2), addGenerationPrompt: false };
    expect(() => compile(refusing).render(last)).toThrow('first!');
  });

  test('gives the date as strftime_now', () => {
    expect(compile("{{ strftime_now('%Y') }}").render({ messages: user })).toMatch(/^\d{4}$/);
  });

  test('is null for a checkpoint without one', () => {
    expect(ChatTemplate.fromFiles(null, null)).toBeNull();
    expect(ChatTemplate.fromFiles('{"bos_token": "<s>"}', null)).toBeNull();
  });

  test('reads tokenizer_config.json; chat_template.jinja wins', () => {
    const config = JSON.stringify({ bos_token: { content: '<b>', lstrip: false }, chat_template: simple });
    expect(ChatTemplate.fromFiles(config, null)!.render({ messages: user })).toBe('<b>[user]hi');
    expect(ChatTemplate.fromFiles(config, 'file')!.render({ messages: user })).toBe('file');
  });

  test('says ChatTemplateInvalid, quoting the error, when it cannot be parsed', () => {
    expect(() => ChatTemplate.fromFiles(null, '{% if x')).toThrow(
      expect.objectContaining({
        reason: 'ChatTemplateInvalid',
        message: expect.stringContaining('unexpected'),
      }),
    );
    expect(() => ChatTemplate.fromFiles('{', null)).toThrow(/tokenizer_config.json is not JSON/);
  });

  test.each([
    [
      'a chat',
      simple + '{% set n = namespace(k=1) %}{% set n.k = n.k + 1 %}{{ n.k }}{{ True }}{{ none is none }}',
    ],
    ['tools and filters', '{{ tools | tojson }}{{ messages | map(attribute="role") | join(",") }}'],
    [
      'names that are not set',
      '{{ x }}{{ x is defined }}{% for m in messages %}{{ y | default("z") }}{% set x = m.role %}{{ x }}{% endfor %}{{ x }}',
    ],
    ['a macro', '{% macro say(x) %}<{{ x }}>{% endmacro %}{{ say(messages[0].content) }}'],
  ])('writes %s on the spot as it does in a process', (_, source) => {
    const input = { messages: user, tools: [{ name: 'f' }] };
    const template = compile(source);
    expect(template.renderBriefly(input)).toBe(template.render(input));
  });

  test.each([
    ['loops', '{% for a in messages %}'.repeat(6) + '.' + '{% endfor %}'.repeat(6)],
    [
      'doubles a text',
      '{% set n = namespace(s="x") %}{% for i in messages %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s }}',
    ],
    ['may count far', '{% for i in range(99999) %}.{% endfor %}'],
  ])('leaves one that %s to a process', (_, source) => {
    const messages = Array.from({ length: 40 }, () => user[0]!);
    expect(compile(source).renderBriefly({ messages })).toBeNull();
  });

  test.each([
    ['counts up', '{{ range(90000) | list | length }}'],
    ['replaces by what it computed', "{% set a = 'h' * 9000 %}{{ a.replace('h', a) }}"],
    ['replaces by a long text', `{{ ('h' * 9000) | replace('h', '${'x'.repeat(100)}') }}`],
    ['calls a method under another name', "{% set f = ('x' * 9000).replace %}{{ f('x', 'y' * 9000) }}"],
    ['calls a method by its name as text', "{{ ('x' * 9000)['replace']('x', 'y' * 9000) }}"],
    ['joins by what it computed', '{{ range(2000) | join("x" * 9000) }}'],
    ['indents far', '{{ messages[0].content | indent(100000000) }}'],
    ['writes JSON far from the edge', '{{ messages | tojson(indent=100000000) }}'],
    [
      'writes a list of lists of lists',
      '{% set n = namespace(a=["x"]) %}' + '{% set n.a = [n.a, n.a] %}'.repeat(30) + '{{ n.a }}',
    ],
    [
      'compares them',
      '{% set n = namespace(a=["x"], b=["x"]) %}' +
        '{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}'.repeat(30) +
        '{{ n.a == n.b }}',
    ],
    [
      'joins them',
      '{% set n = namespace(a=["x"]) %}' + '{% set n.a = [n.a, n.a] %}'.repeat(30) + '{{ n.a | join }}',
    ],
    ['centers a text far from the edge', "{{ 'x'.center(100000000) }}"],
  ])('leaves one that %s to a process before it has done it', (_, source) => {
    expect(compile(source).renderBriefly({ messages: user })).toBeNull();
  });

  test.each([
    ['adds a list to a text', '{{ "x" + messages }}', "unsupported operand type(s) for +: 'str' and 'list'"],
    ['holds itself', '{% set n = namespace() %}{% set n.a = n %}{{ n }}', 'maximum recursion depth exceeded'],
  ])('refuses one that %s, as Python does', (_, source, message) => {
    expect(() => compile(source).renderBriefly({ messages: user })).toThrow(message);
    expect(() => compile(source).render({ messages: user })).toThrow(message);
  });

  test.each([
    ['texts cut at a mark', "{{ messages[0].content.split('h')[-1].lstrip('\\n').strip() }}", 'i'],
    [
      'JSON on several lines',
      '{{ messages[0] | tojson(indent=1, ensure_ascii=false) }}',
      '{\n "role": "user",\n "content": "hi"\n}',
    ],
    ['names joined', "{{ messages | map(attribute='role') | join(', ') }}", 'user'],
    ['a letter replaced', "{{ messages[0].content.replace('h', 'H') | replace('i', '') }}", 'H'],
    [
      'whether a list has it',
      "{{ messages[0].role in ['user', 'tool'] }}{{ 'x' not in messages[0] }}",
      'TrueTrue',
    ],
    ['texts and lists added', "{{ 'a' + messages[0].role }}{{ ([1] + [2]) | length }}", 'auser2'],
    [
      'dicts walked through',
      '{% for k, v in messages[0].items() %}{{ k }}={{ v }};{% endfor %}',
      'role=user;content=hi;',
    ],
  ])('writes %s on the spot', (_, source, text) => {
    expect(compile(source).renderBriefly({ messages: user })).toBe(text);
  });

  test('leaves long conversations to a process', () => {
    const template = compile(simple);
    const many = Array.from({ length: 400 }, () => user[0]!);
    expect(template.renderBriefly({ messages: many })).toBeNull();
    expect(template.renderBriefly({ messages: [{ role: 'user', content: 'x'.repeat(20_000) }] })).toBeNull();
  });
});
