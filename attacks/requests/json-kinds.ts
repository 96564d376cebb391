// Bodies that are no JSON, or JSON that is meant to hurt.
import { gzipSync } from 'node:zlib'
import type { AskedAs, Kind } from './kinds.ts'
import { listOf, post } from './kinds.ts'
import { either, legal, refused } from './judge.ts'

/** Texts that are no JSON object. */
export const badJson: Kind = listOf('bodies that are no JSON', ({ target }) => {
  const { path, body } = target.plain
  const whole = JSON.stringify(body)
  const inside = whole.slice(1, -1)
  const texts = [
    '',
    ' ',
    '\n',
    '{',
    '}',
    '[',
    '{"a"',
    '{"a":',
    '{"a":}',
    '{"a":1',
    '{"a":1,}',
    '{,}',
    '{:1}',
    '{"a" 1}',
    "{'a':1}",
    '{a:1}',
    '[1,2',
    '[1 2]',
    'NaN',
    'Infinity',
    'undefined',
    'nul',
    'tru',
    'TRUE',
    '{}{}',
    '{}x',
    '{}]',
    '{"a":01}',
    '{"a":.5}',
    '{"a":5.}',
    '{"a":+1}',
    '{"a":0x10}',
    '{"a":1e}',
    '{"a":-}',
    '{"a":1_000}',
    '{"a":NaN}',
    '{"a":"\n"}',
    '{"a":"\u0001"}',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    '{"a":"\\uzzzz"}',
    '{"a":"b}',
    '{"a":\'b\'}',
    'true',
    'null',
    '5',
    '"x"',
    '[]',
    '[{}]',
    '//\n{}',
    '/**/{}',
    '{"a":1}//',
    '<xml/>',
    'a=1&b=2',
    '--x\r\n\r\n{}',
    '\u2028{}',
    '\u00a0{}',
    '{"a":1}\u0000',
    '\u0000',
    `{${inside},`,
    `${whole}${whole}`,
    inside,
    ...Array.from({ length: 12 }, (_, i) => whole.slice(0, Math.floor(((i + 1) * whole.length) / 13))),
  ]
  const buffers: [string, Buffer][] = [
    ['UTF-16', Buffer.from(whole, 'utf16le')],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${whole}`, 'utf16le')],
    ['gzip', gzipSync(whole)],
    ['all bytes', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
    ['a kilobyte of NUL', Buffer.alloc(1024)],
    ['a kilobyte of 0xff', Buffer.alloc(1024, 0xff)],
  ]
  const expected = refused(/JSON|object/)
  return [...texts.map((text) => [JSON.stringify(text.slice(0, 40)), text] as const), ...buffers].map(
    ([what, text]) => ({ what, expected, asked: post(path, text) }),
  )
})

/** Deep nesting, huge numbers, the same key twice, names that objects have by themselves. */
export const strangeJson: Kind = listOf('JSON that is meant to hurt', ({ target }) => {
  const { path, body } = target.plain
  const inside = JSON.stringify(body).slice(1, -1)
  const beside = (field: string): AskedAs => post(path, `{${inside},${field}}`)
  const before = (field: string): AskedAs => post(path, `{${field},${inside}}`)
  const nested = (open: string, close: string, depth: number): string =>
    `"metadata":${open.repeat(depth)}1${close.repeat(depth)}`
  const deep = refused(/deep/)
  return [
    ...[257, 1000, 100_000, 120_000].flatMap((depth) => [
      { what: `${depth} lists`, expected: deep, asked: beside(nested('[', ']', depth)) },
      { what: `${depth} objects`, expected: deep, asked: beside(nested('{"a":', '}', depth)) },
      { what: `${depth} of both`, expected: deep, asked: beside(nested('[{"a":', '}]', depth)) },
    ]),
    { what: 'a million open lists', expected: deep, asked: post(path, '['.repeat(1_000_000)) },
    { what: '250 lists', expected: legal(), asked: beside(nested('[', ']', 250)) },
    { what: 'brackets in a text', expected: legal(), asked: beside(`"metadata":"${'['.repeat(10_000)}"`) },
    {
      what: 'brackets behind a quote in a text',
      expected: legal(),
      asked: beside(`"metadata":"\\"${'['.repeat(10_000)}"`),
    },
    ...[
      '1e400',
      '-1e400',
      '1e-400',
      '9'.repeat(100_000),
      `0.${'1'.repeat(100_000)}`,
      `1e${'9'.repeat(1000)}`,
    ].map((number) => ({
      what: `the number ${number.slice(0, 20)}`,
      expected: legal(),
      asked: beside(`"metadata":{"a":${number}}`),
    })),
    ...[
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      'valueOf',
      'then',
      'toJSON',
    ].flatMap((name) =>
      [`{"n":64,"stream":true}`, 'null', '1', '[]', `{"prototype":{"n":64}}`].map((value) => ({
        what: `${name}: ${value}`,
        expected: legal((answer) => (answer.body.length > 3000 ? 'more was answered than asked' : undefined)),
        asked: before(`"${name}":${value}`),
      })),
    ),
    { what: 'everything in __proto__', expected: either(), asked: post(path, `{"__proto__":{${inside}}}`) },
    {
      what: 'a field 10,000 times',
      expected: legal(),
      asked: before(`"metadata":1,`.repeat(10_000) + '"metadata":1'),
    },
    {
      what: 'a name of 1 MB',
      expected: refused(/too long a name/),
      asked: beside(`"${'k'.repeat(1_000_000)}":1`),
    },
    { what: 'a name of NUL', expected: legal(), asked: beside('"\\u0000":1') },
    { what: 'an empty name', expected: legal(), asked: beside('"":1') },
  ]
})

/** Bytes that are no UTF-8, and characters that are hard to handle. */
export const strangeText: Kind = listOf('bytes that are no text', ({ target }) => {
  const { path, body } = target.plain
  const inside = JSON.stringify(body).slice(1, -1)
  const sequences: [string, string][] = [
    ['a lone continuation', '80'],
    ['0xff', 'ff'],
    ['an overlong slash', 'c0af'],
    ['an overlong NUL', 'c080'],
    ['a surrogate', 'eda080'],
    ['half a character', 'e282'],
    ['above U+10FFFF', 'f4908080'],
    ['five bytes', 'f888808080'],
    ['a mark in the middle', 'efbbbf'],
  ]
  const around = (bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from('{"metadata":"'), bytes, Buffer.from(`",${inside}}`)])
  const texts = [
    '\\u0000',
    '\\ud800',
    '\\udc00\\ud800',
    '\\uffff',
    '\\u202e',
    '\\u0007\\u001b[31m',
    '\ufeff',
    '\u{10ffff}',
  ]
  return [
    ...sequences.map(([what, hex]) => ({
      what,
      expected: either(),
      asked: post(path, around(Buffer.from(hex, 'hex'))),
    })),
    ...sequences.map(([what, hex]) => ({
      what: `${what}, 200,000 times`,
      expected: either(),
      asked: post(path, around(Buffer.from(hex.repeat(200_000), 'hex'))),
    })),
    ...texts.map((text) => ({
      what: text,
      expected: legal(),
      asked: post(path, `{"metadata":"${text}",${inside}}`),
    })),
    { what: 'a mark before the body', expected: either(), asked: post(path, `\ufeff{${inside}}`) },
    {
      what: 'NUL in a text',
      expected: refused(/JSON/),
      asked: post(path, `{"metadata":"\u0000",${inside}}`),
    },
    { what: 'NUL between fields', expected: refused(/JSON/), asked: post(path, `{${inside}\u0000}`) },
  ]
})

/** JSON as long as a body may be, of what takes longest to read. */
export const costlyJson = (mostBytes: number): Kind =>
  listOf('long JSON of many parts', ({ target }) => {
    const { path, body } = target.plain
    const inside = JSON.stringify(body).slice(1, -1)
    const room = mostBytes - inside.length - 100
    const list = (item: string): string =>
      `[${`${item},`.repeat(Math.floor(room / (item.length + 1)) - 1)}${item}]`
    const fields = (count: number): string =>
      `{${Array.from({ length: count }, (_, i) => `"k${(i * 7919).toString(36)}":1`).join(',')}}`
    const cases: [string, () => string][] = [
      ...['{}', '[]', '""', '1', '0.1234567', '1e308', '"\\u0041"', '{"a":1}', '[[]]', 'null'].map(
        (item): [string, () => string] => [`a list of ${item}`, () => list(item)],
      ),
      ['fields', () => fields(Math.min(600_000, Math.floor(room / 14)))],
      [
        'numbers as names',
        () =>
          `{${Array.from({ length: Math.min(500_000, Math.floor(room / 16)) }, (_, i) => `"${i * 7919}":1`).join(',')}}`,
      ],
      ['a text', () => `"${'a '.repeat(room >> 1)}"`],
      ['a text of escapes', () => `"${'\\n'.repeat(room >> 1)}"`],
      ['a text beyond ASCII', () => `"${'ü'.repeat(room >> 1)}"`],
      ['a text of pairs', () => `"${'😀'.repeat(room >> 2)}"`],
    ]
    return cases.map(([what, make]) => ({
      what,
      expected: either(/JSON|parts|values|deep/),
      asked: post(path, `{${inside},"metadata":${make()}}`),
    }))
  })
