import { describe, expect, test } from '@jest/globals';
import { ChatTemplate } from './chat-template.js';

const kwargs = {
  ...{ t: true, n: null, i: 3, f: 1.5, s: "it's", pad: '\n\n  a \n', crlf: 'p\r\nq' },
  l: [true, null, 'a', "it's", '"q" it\'s', 'x\ny\\zé\u2028\u00a0\u0007🦙', 2],
  d: { a: false, b: [{}] },
};

// What Jinja 3.1.6 gives in Python, in the environment of transformers (a sandbox with trim_blocks and lstrip_blocks).
const cases: [string, string][] = [
  ['{{ t }} {{ n }} {{ i }} {{ f }} {{ s }} {{ unset }}.', "True None 3 1.5 it's ."],
  ['{{ t | string }}{{ n | string }}{{ i | string }}{{ unset | string }}.', 'TrueNone3.'],
  ['{{ t ~ n ~ i ~ unset ~ s }}', "TrueNone3it's"],
  ['{{ l }}', "[True, None, 'a', \"it's\", '\"q\" it\\'s', 'x\\ny\\\\zé\\u2028\\xa0\\x07🦙', 2]"],
  ['{{ d }}{{ d | string }}', "{'a': False, 'b': [{}]}{'a': False, 'b': [{}]}"],
  ['{{ (1, t) }}', '(1, True)'],
  [
    "{{ pad.strip('\\n') }}|{{ pad.lstrip('\\n') }}|{{ pad.rstrip('\\n') }}|{{ pad.strip() }}",
    '  a |  a \n|\n\n  a |a',
  ],
  ["{{ '\\n'.strip('\\n') }}|{{ 'xyaxy'.strip('yx') }}", '|a'],
  [
    '{% set x = n %}{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m(t) }}{# no #}{% set b %}{{ n }}{% endset %}{{ b }}',
    '[True]None',
  ],
  ['{% for i in range(3) %}{{ i }}{% endfor %}{{ range(5, 1, -2) | list }}', '012[5, 3]'],
  [
    "{{ '' == false }} {{ '1' == 1 }} {{ 0 == false }} {{ 1 == 1.0 }} {{ none == unset }} {{ none == false }}",
    'False False True True False False',
  ],
  [
    "{{ [] == [] }} {{ [1, {'a': 'b'}] == [1, {'a': 'b'}] }} {{ [1] == (1, 2) }} {{ {'a': 1} != {'a': 2} }}",
    'True True False True',
  ],
  [
    "{{ unset == other }} {{ 'a' != 'a' }} {{ [] != none }} {{ {'a': 1} == {'b': 1} }}",
    'True False True False',
  ],
  ["a\r\n{% if true %}\r\n{{ crlf }}\r\n{% endif %}\r\n{{ 'x\r\ny' }}\r\n", 'a\np\r\nq\nx\ny'],
  ["{{ d.get('z') }}{% if t %}{{ t }}{% endif %}", 'NoneTrue'],
];

describe('PythonInterpreter', () => {
  test.each(cases)('writes %s as Python does', (template, text) => {
    expect(ChatTemplate.compile(template, {})!.render({ messages: [], kwargs })).toBe(text);
  });
});
