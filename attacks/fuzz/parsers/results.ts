// What tools return, read as text: values, records, errors, statements.
import { createRandom } from '../../../src/engine/random/index.ts'
import { correctionsOf, saysFailure } from '../../../src/llm/environment/mcp/arguments/error-hints.ts'
import { hintsOfDescription } from '../../../src/llm/environment/mcp/arguments/hints.ts'
import { condition, sampleSql, verbsOf } from '../../../src/llm/environment/mcp/arguments/sql.ts'
import { tableBeside, tablesIn } from '../../../src/llm/environment/mcp/arguments/sql-tables.ts'
import { valuesIn, wordsIn } from '../../../src/llm/audit/values.ts'
import { recordsOf } from '../../../src/llm/environment/mcp/arguments/text-records.ts'
import { topicOf, topicOfExample } from '../../../src/llm/environment/mcp/arguments/topics.ts'
import { wordsOf } from '../../../src/llm/environment/mcp/arguments/words.ts'
import {
  chooseSalient,
  compactResult,
  extractSalient,
  otherValues,
} from '../../../src/llm/environment/mcp/salient.ts'
import { markedAnswer, markedResult, recordValues } from '../../../src/llm/tokenizer/record-marks.ts'
import { redactorOf } from '../../../src/llm/tool/redact.ts'
import { jsonPart } from '../../../src/untrusted/json-in-text.ts'
import { isVisible, visibleBlock, visibleLine, visibleText } from '../../../src/untrusted/visible-text.ts'
import { makeJson } from '../mutate-json.ts'
import { makeText } from '../mutate-text.ts'
import { jsonOf, Mismatch, mustEqual, textOf } from '../parser.ts'
import type { FuzzParser } from '../parser.ts'

const texts = {
  examples: [
    'Found 2 rows:\n[{"id":1,"name":"Ada","tags":["a","b"]},{"id":2,"name":"Bob"}]\nTook 4 ms',
    '{"users":[{"id":"u1","name":"Ada","age":36},{"id":"u2","name":"Bob","age":41}],"total":2}',
    '| id | name | price |\n|----|:-----|------:|\n| 1 | Pen | 2.50 |\n| 2 | **Ink** | 12 |\n',
    'NAME       SIZE  DATE\n---------------------\na.txt      12 B  2024-01-31\nb.txt      9 KB  2024-02-01\n',
    '# Notes\n\n**title**: Buy milk\nstatus: open\n\n## Second\ntitle: Call Bob\nstatus = done\n',
    '- a1: Buy milk\n- [x] users (3 rows)\n* c.txt\n1. first\n2) second — more\n[FILE] a.txt\n[DIR] b\n/home/x/y.txt\nTables: a, b, c.\n',
    '```json\n{"a":[1,2,{"b":null}]}\n```\nmore',
    '- button "Order" [ref=e9]\n  - combobox "Size" [ref=e10]:\n    - option "S"\n    - option "L"\n- textbox "Name" [ref=e11]: x',
    'Created user 550e8400-e29b-41d4-a716-446655440000 [id=e5].',
    '{"sku":"x","items":[{"a":1},{"a":2…',
  ],
  words: [
    '|',
    '---',
    '- ',
    '* ',
    '1. ',
    '**',
    '```',
    '#',
    ': ',
    ' = ',
    '[',
    ']',
    '{',
    '}',
    '"',
    ',',
    '\n',
    '  ',
    '\t',
    '[ref=e1]',
    '…',
    '/',
    '.txt',
  ],
}

const shown: FuzzParser = {
  name: 'a result as text',
  share: 2,
  make: (random) => makeText(random, texts),
  parse(input, reach) {
    const text = textOf(input)
    const part = jsonPart(text)
    if (part !== undefined) reach(1)
    const compact = compactResult(text)
    if (Array.from(compact).length > 300) throw new Mismatch('a compact result of more than 300 characters')
    mustEqual(compactResult(compact), compact, 'a compact result made compact')
    valuesIn(text)
    wordsIn(text)
    const salient = chooseSalient(compact, 'request', createRandom('salient'))
    if (salient === undefined) return
    reach(2)
    const answer = extractSalient(compact, salient)
    if (answer === undefined) throw new Mismatch('what was chosen is not there')
    reach(3)
    otherValues(compact, answer)
    markedAnswer(`name: ${answer}, price: 12`, text)
    const parts = markedResult(text)
    mustEqual(parts.filter((each) => typeof each === 'string').join(''), text, 'a result without its marks')
  },
}

const records: FuzzParser = {
  name: 'records in a result',
  share: 2,
  make: (random) => makeText(random, texts),
  parse(input, reach) {
    const text = textOf(input)
    reach(1)
    const found = recordsOf(text, { path: 'home', table: 'users' }, 'list_users')
    if (found.length > 0) reach(2)
    for (const { from, to } of recordValues(text))
      if (!(0 <= from && from <= to && to <= text.length)) throw new Mismatch('a value outside of the text')
    const [table] = tablesIn(found)
    if (found.length > 1) reach(3)
    if (table !== undefined) condition(table, wordsOf('train'), createRandom('condition'))
    tableBeside(found, { table: 'users' })
  },
}

const errors = {
  examples: [
    'MCP error -32602: Invalid arguments for tool add: Invalid input: expected number, received string at a',
    'data/unit must be equal to one of the allowed values, data/count must be integer',
    '2 validation errors for get\nunit\n  Field required [type=missing]\ncount\n  Input should be a valid integer',
    'Error: `unit` must be one of: km, mi or "nm". Did you mean \'km\'?',
    'Cannot specify both head and tail',
    '[{"code":"too_big","maximum":10,"type":"number","path":["count"],"message":"Too big"},{"code":"invalid_enum_value","options":["a","b"],"path":["unit"]}]',
    'Path is outside of the allowed directories: /tmp/x not in /home/data, /srv',
    'date must match pattern "^\\d{4}-\\d{2}$" (format YYYY-MM-DD), between 1 and 1,000 characters',
    "Error: ENOENT: no such file or directory, open '/a/b.txt'",
  ],
  words: [
    'unit',
    'count',
    'head',
    'tail',
    'filters.city',
    'must be',
    'one of',
    'expected',
    'received',
    'at',
    'required',
    'between',
    'e.g.',
    '(',
    ')',
    ',',
    ' or ',
    '"',
    "'",
    '`',
    '/',
    ':',
    '.',
    '\n',
  ],
}

const errorText: FuzzParser = {
  name: 'an error of a tool',
  share: 2,
  make: (random) => makeText(random, errors),
  parse(input, reach) {
    const text = textOf(input)
    reach(1)
    const names = ['unit', 'count', 'head', 'tail', 'filters.city', 'items[].name']
    const args = { unit: 'km', count: 12, filters: { city: 'Oslo' }, head: true }
    if (saysFailure(text, args)) reach(2)
    if (correctionsOf(text, args, names).size > 0) reach(3)
    hintsOfDescription(text)
    topicOf('value', text, text)
    topicOfExample(text)
  },
}

const statements = {
  examples: [
    'CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE, price NUMERIC(10,2) DEFAULT 0)',
    "INSERT INTO users (id, name, note) VALUES (1, 'Ada', 'it''s')",
    'create temporary table if not exists "a b" ([x] int, `y` real, constraint c unique (x, y))',
    "CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t (id, name) VALUES (1, 'a'); SELECT name FROM t WHERE id = 1",
  ],
  words: [
    'CREATE',
    'TABLE',
    'INSERT',
    'INTO',
    'VALUES',
    'IF NOT EXISTS',
    'PRIMARY KEY',
    '(',
    ')',
    ',',
    "'",
    "''",
    '"',
    '`',
    '[',
    ']',
    'INT',
    'users',
    ';',
    '--',
  ],
}

const sql: FuzzParser = {
  name: 'statements of SQL',
  make: (random) => makeText(random, statements),
  parse(input, reach) {
    const text = textOf(input)
    reach(1)
    const tables = tablesIn([
      ...text.split(';').map((each) => ({ sql: each })),
      { table: 'users', data: { name: text } },
    ])
    if (tables.length > 0) reach(2)
    if (tables.some(({ rows }) => rows.length > 0)) reach(3)
    const statement = sampleSql(verbsOf(text), tables, wordsOf('train'), createRandom('sql'))
    if (typeof statement !== 'string') throw new Mismatch('no statement')
  },
}

const secrets = ['sk-live-42/ab+c', 'pä55 "word"\\n', '1234567', 'tok']

const secretTexts = {
  examples: secrets.flatMap((secret) => [
    `the key is ${secret}!`,
    JSON.stringify({ key: secret, [secret]: [secret] }),
    Buffer.from(`a${secret}b`).toString('base64'),
    Buffer.from(secret).toString('hex'),
    encodeURIComponent(secret),
    [...Buffer.from(secret)].join(', '),
  ]),
  words: [...secrets, '\n', '=', ':', '%', '\\x', ' '],
}

const redaction: FuzzParser = {
  name: 'secrets in a text',
  make: (random) => makeText(random, secretTexts),
  parse(input, reach) {
    const text = textOf(input)
    reach(1)
    const redactor = redactorOf(secrets)
    const hidden = redactor.text(text)
    if (hidden !== text) reach(3)
    else reach(2)
    for (const secret of secrets)
      if (hidden.replaceAll('[redacted]', ' ').includes(secret)) throw new Mismatch('a secret is left')
    redactor.data({ [text]: [text, 1_234_567, { text }] })
  },
}

const unseen = {
  examples: ['a\tb\r\nc', '\u001b[31mred\u001b[0m', 'a\u202eb', 'x\u2028y', '\u0000\u0007', 'ok'],
  words: ['\u001b', '\r', '\u009b', '\u2066', '\ufeff', '\ud800'],
}

const visible: FuzzParser = {
  name: 'text that is printed',
  make: (random) => makeText(random, unseen),
  parse(input, reach) {
    const text = textOf(input)
    reach(1)
    const [whole, line, block] = [visibleText(text), visibleLine(text, 80), visibleBlock(text, '  ')]
    if (isVisible(text)) reach(3)
    else reach(2)
    // What a terminal obeys: escape sequences, carriage returns, marks of direction.
    // oxlint-disable-next-line no-control-regex -- these are looked for
    if (/[\0-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/.test(`${whole}${line}${block}`))
      throw new Mismatch('a control character is left')
    if (line.includes('\n')) throw new Mismatch('a line with a line break')
  },
}

const values = {
  examples: ['[{"a":1,"b":"x"},{"a":2,"b":"y"}]', '{"a":{"b":[1,2]}}', '[]'],
  words: ['a', 'b'],
}

const inText: FuzzParser = {
  name: 'JSON in text',
  make: (random) =>
    `${random.pick(['', 'Found 2:\n', 'rows: ', '\ufeff', 'a [b] '])}${makeJson(random, values)}${random.pick(['', '\nTook 4 ms', '\n\n', ' }'])}`,
  parse(input, reach) {
    const text = textOf(input)
    const part = jsonPart(text)
    if (part === undefined) return
    reach(1)
    if (!(0 <= part.from && part.from <= part.to && part.to <= text.length))
      throw new Mismatch('a part outside of the text')
    if (jsonOf(text.slice(part.from, part.to)) !== undefined) reach(3)
    else reach(2)
  },
}

export const resultParsers: readonly FuzzParser[] = [
  shown,
  records,
  errorText,
  sql,
  redaction,
  visible,
  inText,
]
