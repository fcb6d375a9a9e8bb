"""Templates of one line for templates.py: each construct, filter, test and method of Jinja, and what it refuses."""

VARIABLES = {
    "t": True,
    "n": None,
    "i": 3,
    "f": 1.5,
    "s": "it's a Test",
    "u": "é🙂ß",
    "l": [3, 1, 2],
    "w": ["b", "A", "c"],
    "d": {"b": 1, "a": None, "items": "own"},
    "rows": [{"k": "x", "v": 1}, {"k": "y", "v": 2}, {"k": "X", "v": 3}],
    "q": ["it's", '"q" it\'s', "x\ny\\zé\u2028\u00a0\u0007🦙"],
    "pad": "\n\n  a \n",
    "crlf": "p\r\nq",
}

_EXPRESSIONS = r"""
1 // 2 ~ -7 // 2 ~ -7 % 3 ~ 7 % -3 ~ 2 ** 10 ~ 2 ** -1 ~ 1 / 2 ~ 4 / 2
1.0 ~ 1e16 ~ 1e-5 ~ 123456789.5 ~ 0.1 + 0.2 ~ 1_000 ~ 0x1F ~ 0b11 ~ 0o17
-2 | abs ~ -i ~ +i ~ (not t)
not t ~ 1
(1 < 2 < 3) ~ (3 > 2 > 2) ~ (1 == 1.0) ~ (t == 1) ~ ('a' < 'b') ~ ([1, 2] < [1, 3])
'a' in s ~ ('x' not in s) ~ (3 in l) ~ ('b' in d) ~ (n in l) ~ (missing in d)
'%s and %d' % (s, 3) ~ '%5.2f|%-5s|%05d|%+d|%.2s|%%' % (f, 'a', 42, 7, 'abc')
'%(b)s' % d
'%s' % n ~ '%r' % s ~ '%s' % [1]
'%d' % 'a'
'%s %s' % 'a'
'{} {1}'.format(1, 2)
'{} {:>5}|{:<5}|{:^5}|{:05d}|{:.2f}|{:+}|{:*^7.2}|{!r}'.format(1, 'a', 'b', 'c', 42, f, 7, 'abc', s)
'{0} {a} {1:.1f} {a:03d}'.format(d, 0.25, a=1)
'{{}} {}'.format(t)
'{:d}'.format('a')
'a' ~ 1 ~ n ~ t ~ 1.5
'a' + 1
'a' + n
s + l
n + 1
missing + 1
missing.x
missing ~ '.'
'ab' * 3 ~ 2 * [1]
(l + [4]) ~ ((1,) + (2,))
s[0] ~ s[-1] ~ s[1:3] ~ s[::-1] ~ s[5:] ~ s[:-2] ~ u[1] ~ u[::-1] ~ u | length
l[0] ~ l[-1] ~ l[1:] ~ l[::2] ~ l[5] ~ (1, 2, 3)[1:] ~ l[:0]
d.b ~ d['b'] ~ d.missing ~ d.items is callable ~ d['items'] ~ d.get('a', 1) ~ d.get('z') ~ d.get('z', 2)
d.keys() ~ d.values() ~ d.items()
d.update is defined ~ l.append is defined
l.append(1)
d.pop('b')
{1: 'a', 1.0: 'b', true: 'c'} ~ {1: 'a'}[1]
{[1]: 2}
d[missing] ~ d[l] ~ l['x'] ~ s.foo
i.x ~ n.x ~ i[0]
n[0].x
(1,) ~ () ~ (1, 2) ~ [1, 'a', "it's", none, true, 1.0, missing]
'a' if t else 'b'
('a' if n) ~ '.'
n or 'x' ~ (t and 'y') ~ (0 or '') ~ ([] or {} or 'z')
s.upper() ~ s.lower() ~ s.title() ~ s.capitalize() ~ s.swapcase() ~ u.upper()
s.find('a') ~ s.find('zz') ~ s.rfind('t') ~ s.index('a') ~ s.count('t') ~ u.find('ß')
s.index('zz')
s.partition(' ') ~ s.rpartition(' ') ~ s.partition('zz') ~ s.rpartition('zz')
s.split() ~ s.split(' ', 1) ~ s.rsplit(' ', 1) ~ s.rsplit(maxsplit=1) ~ 'a,,b'.split(',') ~ ' a  b '.split() ~ ' a b '.split(none, 1)
s.split('')
'a\nb\r\nc\n'.splitlines() ~ 'a\nb\n'.splitlines(true)
'ab'.center(7, '*') ~ 'abc'.center(6) ~ 'ab'.ljust(4) ~ 'ab'.rjust(4, '.') ~ '-42'.zfill(6)
s.startswith('it') ~ s.startswith(('x', 'it')) ~ s.endswith('t', 0, 2) ~ s.startswith(1 ~ '')
s.startswith(1)
s.replace('t', 'T') ~ s.replace('t', 'T', 1) ~ 'aaa'.replace('', '-') ~ s.removeprefix('it') ~ s.removesuffix('Test')
' x '.strip() ~ '|' ~ 'xxaxx'.strip('x') ~ ' x '.lstrip() ~ '|' ~ ' x '.rstrip() ~ '|' ~ '\u00a0x\u2003'.strip() ~ '|'
'1'.isdigit() ~ 'a'.isalpha() ~ 'a1'.isalnum() ~ ' '.isspace() ~ 'A'.isupper() ~ 'a'.islower() ~ ''.isdigit()
','.join(w) ~ ''.join('abc')
','.join(l)
w | join(',') ~ l | join ~ rows | join('-', attribute='k')
l | sort ~ w | sort ~ w | sort(case_sensitive=true) ~ l | sort(reverse=true) ~ rows | sort(attribute='k,v') | map(attribute='v') | list
[1, 'a'] | sort
l | min ~ l | max ~ l | sum ~ rows | sum(attribute='v') ~ rows | map(attribute='v') | max ~ ([] | min) ~ w | min ~ l | sum(start=10)
[] | first ~ l | first ~ l | last ~ s | first ~ u | last ~ d | first ~ d | last
l | map('string') | join('+') ~ w | map('upper') | list ~ rows | map(attribute='z', default='?') | list ~ w | map('replace', 'A', 'B') | list
l | select('odd') | list ~ l | reject('odd') | list ~ l | select | list ~ l | select('gt', 1) | list ~ l | select('in', [1]) | list
rows | selectattr('k', 'equalto', 'x') | list ~ rows | rejectattr('v', '>', 1) | map(attribute='k') | list ~ rows | selectattr('v') | list | length
n | selectattr('x') | list ~ missing | map('upper') | list
l | batch(2) | list ~ l | batch(2, 0) | list
rows | groupby('k') ~ (rows | groupby('k') | first).grouper ~ (rows | groupby('k') | first).list | length ~ rows | groupby('k', case_sensitive=true) | length
w | unique | list ~ ['a', 'A', 'b'] | unique | join ~ [1, 1.0, true] | unique | list
l | reverse | list ~ s | reverse ~ l | list ~ s | list | length ~ d | list ~ (1, 2) | list
d | items | list ~ missing | items | list ~ d | dictsort ~ {'a': 2, 'b': 1} | dictsort(by='value') ~ {'b': 1, 'A': 2} | dictsort(true) ~ d | length
n | items | list
n | length
i | length
missing | length ~ '.'
l | map('upper') | length
n | default('x') ~ missing | default('x') ~ '' | default('x', true) ~ n | d('x', boolean=true)
'42' | int ~ '4.7' | int ~ 'x' | int ~ 'x' | int(7) ~ f | int ~ t | int ~ ' 5 ' | int ~ n | int
'1.5' | float ~ 'x' | float ~ 3 | float ~ '1e3' | float ~ 'inf' | float
missing | int
'%.0f %.1f %f %s' | format(2.5, 0.25, 12345.678, 'x')
'%s-%s' | format(1, 2) ~ '%(a)s' | format(a=1)
' x ' | trim ~ '|' ~ 'xax' | trim('x') ~ n | trim ~ l | trim ~ 5 | trim
s | upper ~ l | upper ~ n | lower ~ s | title ~ "they're bill's (x) [y]" | title ~ s | capitalize
s | replace('t', 'T') ~ s | replace('t', 'T', 1) ~ 5 | replace(5, 6) ~ n | replace('N', 'n')
'a\nb\n\nc' | indent ~ '|' ~ 'a\nb' | indent(2, true) ~ '|' ~ 'a\n\nb' | indent(1, blank=true) ~ '|' ~ 'a\nb' | indent('> ') ~ '' | indent
5 | indent
'<b>"a" & \'c\'</b>' | e ~ ('<b>' | safe) ~ ('<' | e | e)
('<a>' | safe) + '<b>' + "'"
'<b>' + ('<a>' | safe)
('%s' | safe) % '<' ~ ('{}' | safe).format('<') ~ ('a' | safe | upper) ~ ('<' | e).replace('&', '<')
s | string ~ l | string ~ n | string ~ missing | string ~ '.'
d | tojson ~ l | tojson ~ s | tojson ~ n | tojson ~ 1.0 | tojson ~ (1, 2) | tojson ~ u | tojson ~ u | tojson(ensure_ascii=true)
d | tojson(indent=2) ~ [] | tojson(indent=2) ~ {'a': [1, {}]} | tojson(indent=1) ~ d | tojson(sort_keys=true) ~ d | tojson(separators=(',', ':')) ~ {1: 2, none: 3, true: 4} | tojson
'\u007f\u2028<>&\'' | tojson
missing | tojson
d.items() | tojson
t is true ~ 1 is true ~ n is none ~ f is float ~ t is integer ~ i is integer ~ t is number ~ t is boolean ~ s is string ~ d is mapping
l is sequence ~ d is sequence ~ s is sequence ~ i is sequence ~ missing is sequence ~ d.items() is sequence
l is iterable ~ s is iterable ~ i is iterable ~ missing is iterable ~ n is iterable ~ d is iterable
3 is odd ~ 3 is even ~ 9 is divisibleby(3) ~ 9 is divisibleby 2 ~ 'a' is lower ~ 'A' is upper ~ 1 is eq 1 ~ 1 is ne 2 ~ 1 is lt 2 ~ 2 is ge 2
1 is in [1, 2] ~ 'x' is in d ~ n is sameas none ~ missing is undefined ~ missing is not defined ~ range is callable
(i is odd and t) ~ (i is not even or n) ~ (not i is even)
range(3) ~ range(1, 10, 3) | list ~ range(3, 0, -1) | list ~ range(5)[1] ~ range(5)[1:3] | list ~ (3 in range(5)) ~ range(4) | length
range(1000000) | length
range(1, 2, 0)
dict(a=1, b=2) ~ dict(d, z=1) ~ dict([('a', 1)]) ~ namespace(a=1).a ~ namespace(d).b
namespace(_x=1)
raise_exception('no')
nothing(1)
s()
strftime_now('%d %b %Y %H:%M:%S %A %B %j %y %-d %%')
'a' 'b' ~ "\x41\u00e9\101\n\q\\" ~ '\
.'
s | upper if t else s | lower
'x' | nope if n else 'ok'
missing | nope
l is nope
i is odd is even
'a' < 1
n < 1
[1] == (1, 2) ~ ([] == []) ~ ({'a': [1]} == {'a': [1]}) ~ (missing == other) ~ (missing == n) ~ ('' == false)
d == {'items': 'own', 'a': none, 'b': 1} ~ (1 == '1') ~ (l != [3, 1, 2])
1 / 0
1 % 0
l.index(1) ~ l.count(1) ~ (1, 2).index(2)
l.index(9)
dict(a=1, a=2)
d.get()
s | upper(1)
s.upper(1)
s.__class__ ~ '.'
s.__class__.__mro__
(l, w)[0][1]
l[i - 1:] ~ l[n:] ~ s[missing]
s['x':]
rows.0.k ~ rows[0]['k'] ~ rows.0['v']
1 ~ 2 * 3 ~ (2 + 3 * 4 - 1) ~ (7 - 2 - 1) ~ 2 ** 3 ** 2
- 2 ** 2
q ~ d ~ (1, t)
pad.strip('\n') ~ '|' ~ pad.lstrip('\n') ~ '|' ~ pad.rstrip('\n') ~ '|' ~ pad.strip() ~ '|' ~ '\n'.strip('\n') ~ 'xyaxy'.strip('yx')
('1' == 1) ~ (0 == false) ~ (none == false) ~ ([] != none) ~ ({'a': 1} != {'a': 2}) ~ ({'a': 1} == {'b': 1})
1 + 2 | string
(1 + 2) | string ~ 1 + '2'
not n is none
'a' in 'abc' and 'b' not in 'abc'
"""

_TEMPLATES = [
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}",
    "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in l if x > 1 %}{{ x }}{{ loop.length }}{% else %}none{% endfor %}",
    "{% for x in [] %}{% else %}none{% endfor %}{% for x in missing %}{% else %}also{% endfor %}",
    "{% for x in n %}{% endfor %}",
    "{% for x in i %}{% endfor %}",
    "{% for c in u %}[{{ c }}]{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{% endfor %}",
    "{% for a, b in [(1,)] %}{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% break %}",
    "{% for x in l %}{% for y in w %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}{{ loop }}",
    "{% set x = 1 %}{% for y in l %}{{ x }}{% set x = y %}{{ x }}{% endfor %}{{ x }}",
    "{% set q = namespace(c=0) %}{% for y in l %}{% set q.c = q.c + y %}{% endfor %}{{ q.c }}",
    "{% set d.x = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a = 1, %}{{ a }}{% set (a, b) = l[:2] %}{{ a }}{{ b }}",
    "{% set a, b = l %}",
    "{% set x %} a {{ i }}{% endset %}[{{ x }}]{% set y | upper | trim %} a {% endset %}[{{ y }}]",
    "{% if n %}a{% elif i %}b{% else %}c{% endif %}{% if t %}{% set z = 1 %}{% endif %}{{ z }}",
    "{% macro m(a, b=2, c=b) %}{{ a }}{{ b }}{{ c }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m() }}|{{ m(1, 3, 4, 5) }}|{{ m(1, z=1) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(z=2) }}",
    "{% macro m() %}<{{ caller(1) }}>{% endmacro %}{% call(x) m() %}{{ x }}{{ i }}{% endcall %}",
    "{% macro m() %}{{ x }}{% endmacro %}{% set x = 5 %}{{ m() }}",
    "{% macro m(k) %}{% if k > 0 %}{{ k }}{{ m(k - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
    "{% macro m(k) %}{{ m(k) }}{% endmacro %}{{ m(3) }}",
    "{% macro m(x) %}{{ x.y }}{% endmacro %}{{ m() }}",
    "{% with a = 1, b = i %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% filter upper | replace('A', '-') %}a{{ s }}{% endfilter %}",
    "{% generation %}a{% set x = 1 %}{% endgeneration %}{{ x }}",
    "{% block x %}in{{ i }}{% endblock %}{% block y %}{% endblock y %}",
    "{% raw %}{{ x }}{% y %}{% endraw %}{%- raw -%} a {%- endraw %} b",
    "{# a #}b{#- c -#} d  {# e #}\n  {# f #}\ng",
    "  {% if t %}\n  a\n  {% endif %}\n  b\n",
    "  {%+ if t %}\n  a\n  {%- endif +%}\n  b\n\n",
    "a {{- i -}} b\n  {{ i }}\n  c {{- '' }}",
    "a  {%- if t -%}  b  {%- endif -%}  c",
    "x\r\n{% if t %}\r\ny{% endif %}\r\n\r\n",
    "a\r\n{{ crlf }}\r\n{{ 'x\r\ny' }}\r\n",
    "\u00a0{%- if t %}{% endif %}\u3000{% if t -%}\u2003z{% endif %}",
    "{{ {'a': {'b': 1}}.a.b }}{{ '}}' }}{{ \"%}\" }}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.current }}",
    "{% set g = l | map('string') %}{{ g | join }}{{ g | join }}.{% if l | select('gt', 9) %}yes{% endif %}",
    "{% for x in l | map('upper') | reverse %}{{ x }}{% endfor %}",
    "{{ [1, 2,] }}{{ {'a': 1,} }}{{ m(1,) if n }}",
    "{% if i == 3 and s is string and (l | length) > 2 %}ok{% endif %}",
    "{{ 1 }}{% if %}",
    "{% for %}",
    "{% endif %}",
    "{{ 'a }}",
    "{{ (1 }}",
    "{{ a b }}",
    "{{ 1 + }}",
    "{% nope %}",
    "{% do l %}",
    "{# open",
    "{% raw %}",
    "{{ x | nope }}",
    "{% if n %}{{ x | nope }}{% endif %}ok",
    "{% if t %}{{ x | nope }}{% endif %}",
    "{% include 'x' %}",
    "{% set true = 1 %}",
    "{% macro m(a=1, b) %}{% endmacro %}",
    "{{ f(a=1, 2) }}",
    "{{ f(*l, **d) }}",
    "{{ dict(**{'a': 1}) }}{{ range(*[1, 3]) | list }}",
    "{{ caller }}.",
    "}} %} #} { {",
    "{{ '{{ x }}' }}{{ \"it's\" }}",
    "{{ é }}{% set é = 1 %}{{ é }}",
]

TEMPLATES = ["{{ " + line + " }}" for line in _EXPRESSIONS.replace("\\\n", "\\\0").strip().split("\n")]
TEMPLATES = [line.replace("\\\0", "\\\n") for line in TEMPLATES] + _TEMPLATES
