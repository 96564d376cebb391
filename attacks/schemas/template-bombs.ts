import { createChatTemplate } from '../../src/llm/tokenizer/chat-template.ts'
import type { TemplateMessage } from '../../src/llm/tokenizer/chat-template.ts'
import { bomb } from './bomb.ts'
import type { Bomb } from './bomb.ts'

const conversation: readonly TemplateMessage[] = [
  { role: 'system', content: 'You are helpful.' },
  { role: 'user', content: 'What is in the folder?' },
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'c0', type: 'function', function: { name: 'list', arguments: { path: '.' } } }],
  },
  { role: 'tool', content: 'a.txt', tool_call_id: 'c0' },
]

const template = (name: string, make: () => string): Bomb =>
  bomb(`template: ${name}`, make, (source) => ({
    reading: () => {
      createChatTemplate(source)
      return 'read'
    },
    rendering: () => `${createChatTemplate(source).render(conversation).length} characters`,
  }))

/** A program that grows a value of a namespace. */
const grown = (times: number, start: string, step: string, end: string): string =>
  `{% set n = namespace(v=${start}) %}{% for i in range(${times}) %}{% set n.v = ${step} %}{% endfor %}{{ ${end} }}`

export const templateBombs: readonly Bomb[] = [
  template('loops in loops', () => loops(5, 'x')),
  template('loops in loops that write nothing', () => loops(4, '{% set x = 1 %}')),
  template('a text that doubles 60 times', () => grown(60, '"ab"', 'n.v ~ n.v', 'n.v')),
  template('a text that doubles 27 times, in capitals', () =>
    grown(27, '"ab"', 'n.v + n.v', 'n.v | upper | length'),
  ),
  template('a list that doubles 40 times', () => grown(40, '[1]', 'n.v + n.v', 'n.v | length')),
  template('a list of itself, 30 levels, as JSON', () =>
    grown(30, '[1]', '[n.v, n.v]', 'n.v | tojson | length'),
  ),
  template('a list of itself, 30 levels, as text', () => grown(30, '[1]', '[n.v, n.v]', 'n.v')),
  template('an object of itself, 30 levels', () =>
    grown(30, '{}', '{"a": n.v, "b": n.v}', 'n.v | tojson | length'),
  ),
  template('a list 10,000 deep', () => grown(10_000, '[]', '[n.v]', 'n.v | tojson')),
  template('1,000 lists of 100,000 numbers', () => grown(1000, '0', 'range(100000)', '1')),
  template('a range of 10^15', () => '{{ range(1000000000000000) | length }}'),
  template(
    'a text that is split a hundred times',
    () =>
      grown(20, '"a "', 'n.v ~ n.v', '1') +
      '{% for i in range(100) %}{% set x = n.v.split(" ") %}{% endfor %}',
  ),
  template('a replacement that grows', () => grown(60, '"a"', 'n.v | replace("a", "aaa")', 'n.v | length')),
  template(
    'an indent of a billion',
    () => '{{ {"a": [1]} | tojson(indent=1000000000) }}{{ "a\\nb" | indent(1000000000) }}',
  ),
  template(
    'the time, 100,000 times',
    () => '{% for i in range(100000) %}{{ strftime_now("%Y") }}{% endfor %}',
  ),
  template('a macro that calls itself', () => '{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}'),
  template(
    'a macro that calls itself twice',
    () => '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}',
  ),
  template('sorting a hundred times', () =>
    grown(100, '0', 'range(100000) | list | sort(reverse=true)', '1'),
  ),
  template('brackets 10,000 deep', () => `{{ ${'('.repeat(10_000)}1${')'.repeat(10_000)} }}`),
  template(
    'conditions 10,000 deep',
    () => `${'{% if true %}'.repeat(10_000)}x${'{% endif %}'.repeat(10_000)}`,
  ),
  template('20,000 filters in a row', () => `{{ 1 ${'| string '.repeat(20_000)}}}`),
  template('a program of 1,000,000 characters', () => '{{ 1 }}'.repeat(150_000)),
  template('100,000 blanks in a tag', () => `{%${' '.repeat(100_000)}x`),
  template('100,000 blanks before a tag', () => `x${' '.repeat(100_000)}{%- if true %}x{% endif %}`),
  template('100,000 line breaks', () => `{{ 1 }}${'\n'.repeat(100_000)}x`),
  template('tags that never close', () => '{{'.repeat(50_000)),
  template('comments that never close', () => '{#'.repeat(50_000)),
  template('texts beside each other', () => `{{ ${'"a" '.repeat(50_000)}}}`),
]

function loops(depth: number, body: string): string {
  const open = Array.from({ length: depth }, (_, i) => `{% for i${i} in range(100000) %}`).join('')
  return `${open}${body}${'{% endfor %}'.repeat(depth)}`
}
