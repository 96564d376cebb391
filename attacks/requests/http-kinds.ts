// Abuse that does not depend on what a server serves: lines, headers, keys, paths, bodies that do not end.
import type { Attempt, Kind } from './kinds.ts'
import { listOf, post } from './kinds.ts'
import { rawRequest } from './exchange.ts'
import { legal, noHttp, refused } from './judge.ts'
import type { Target } from './targets.ts'

const host = { host: '127.0.0.1' }
const lineOf = (method: string, path: string): string => `${method} ${path} HTTP/1.1`

/** Refused before all of it is read; the answer is lost if the client still sends when the connection is closed. */
const tooLong = { ...noHttp(431), closed: true }

/** A raw request with the key and the type, and the headers of its own. */
function rawPost({ headers, plain }: Target, own: Record<string, string | string[]>, body: string): string[] {
  const all = { ...host, ...headers, connection: 'close', ...own }
  return [rawRequest(lineOf('POST', plain.path), all, body)]
}

/** Methods that no path has, and paths that do not exist. */
export const paths = (root: string): Kind =>
  listOf('methods and paths', ({ target }) => {
    const { plain } = target
    const methods = ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE']
    const strange = ['FOO', 'post', 'GE T', '', '\u0000', 'POST/']
    const places = [
      '/../../../../etc/passwd',
      '/..%2f..%2f..%2fetc%2fpasswd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/models/..%2f..%2fetc',
      '/models/../../../etc/passwd',
      '/models/%00',
      '/models/%zz',
      '/models/%E0%A4%A',
      '/models/%252e%252e%252fetc',
      '//etc/passwd',
      '/.env',
      '/admin',
      '/__proto__',
      '/constructor',
      `/${'a'.repeat(8000)}`,
      `/${'a/'.repeat(4000)}`,
      `/x?${'q=1&'.repeat(2000)}`,
      '/x?__proto__[a]=1',
      '/<script>alert(1)</script>',
      '/%0d%0aset-cookie:a=b',
      '/;id',
      "/'or'1'='1",
      '/%ff%fe',
      '/%C3%BC',
    ].map((path) => root + path)
    const { authorization, 'x-api-key': given } = target.headers
    const key = { ...(authorization && { authorization }), ...(given && { 'x-api-key': given }) }
    const raw = (line: string): string[] => [rawRequest(line, { ...host, ...key, connection: 'close' })]
    return [
      ...methods.map((method) => ({
        what: `${method} ${plain.path}`,
        expected: refused(undefined, 404, 405),
        asked: { method, path: plain.path },
      })),
      ...strange.map((method) => ({
        what: `method ${JSON.stringify(method)}`,
        expected: noHttp(),
        raw: raw(lineOf(method, plain.path)),
      })),
      ...places.map((path) => ({
        what: `GET ${path.slice(0, 60)}`,
        expected: refused(undefined, 400, 404),
        raw: raw(lineOf('GET', path)),
      })),
      { what: 'GET *', expected: refused(undefined, 400, 404), raw: raw(lineOf('GET', '*')) },
      {
        what: 'an address of another host',
        expected: refused(undefined, 400, 404),
        raw: raw(lineOf('GET', 'http://evil.example/x')),
      },
      {
        what: 'CONNECT',
        expected: { ...noHttp(), closed: true },
        raw: raw(lineOf('CONNECT', 'evil.example:443')),
      },
      { what: 'a path of 1 MB', expected: tooLong, raw: raw(lineOf('GET', `/${'a'.repeat(1_000_000)}`)) },
      { what: 'HTTP/0.9', expected: { ...noHttp(), closed: true }, raw: ['GET /\r\n\r\n'] },
      { what: 'HTTP/9.9', expected: noHttp(400, 505), raw: [`GET / HTTP/9.9\r\nhost: x\r\n\r\n`] },
      { what: 'TLS', expected: { ...noHttp(), closed: true }, raw: [Buffer.from('160301020001000', 'hex')] },
      { what: 'noise', expected: { ...noHttp(), closed: true }, raw: [Buffer.alloc(4096, '\u0007\u00ff')] },
    ]
  })

/** Headers that do not fit a body, or of which there are too many. */
export const headers: Kind = listOf('headers', ({ target }) => {
  const body = JSON.stringify(target.plain.body)
  const { length } = body
  const raw = (own: Record<string, string | string[]>, sent = body): string[] => rawPost(target, own, sent)
  const size = { 'content-length': String(length) }
  const smuggled = `0\r\n\r\nGET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n`
  const cases: [string, Attempt['expected'], string[]][] = [
    ['content-length -1', noHttp(), raw({ 'content-length': '-1' })],
    ['content-length 1e3', noHttp(), raw({ 'content-length': '1e3' })],
    ['content-length 0x10', noHttp(), raw({ 'content-length': '0x10' })],
    ['content-length 99999999999999999999', noHttp(), raw({ 'content-length': '9'.repeat(20) })],
    ['two different content-lengths', noHttp(), raw({ 'content-length': [String(length), '3'] })],
    ['content-length of half the body', noHttp(), raw({ 'content-length': String(length >> 1) })],
    ['content-length 0', noHttp(), raw({ 'content-length': '0' })],
    ['no content-length', noHttp(), raw({})],
    ['chunked and a length', noHttp(), raw({ ...size, 'transfer-encoding': 'chunked' }, smuggled)],
    ['transfer-encoding: xchunked', noHttp(), raw({ 'transfer-encoding': 'xchunked' })],
    ['transfer-encoding: chunked, identity', noHttp(), raw({ 'transfer-encoding': 'chunked, identity' })],
    ['a chunk without a size', noHttp(), raw({ 'transfer-encoding': 'chunked' }, 'zz\r\nabc\r\n')],
    ['a chunk of -1', noHttp(), raw({ 'transfer-encoding': 'chunked' }, '-1\r\nabc\r\n')],
    ['a chunk of 2^64', noHttp(), raw({ 'transfer-encoding': 'chunked' }, 'fffffffffffffffff\r\nabc\r\n')],
    [
      'a chunk extension of 100 kB',
      noHttp(400, 413),
      raw({ 'transfer-encoding': 'chunked' }, `2;${'e'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`),
    ],
    ['text/plain', refused(/application\/json/, 415), raw({ ...size, 'content-type': 'text/plain' })],
    ['no type', refused(/application\/json/, 415), raw({ ...size, 'content-type': '' })],
    [
      'a form',
      refused(/application\/json/, 415),
      raw({ ...size, 'content-type': 'multipart/form-data; boundary=x' }),
    ],
    [
      'JSON with a suffix',
      refused(/application\/json/, 415),
      raw({ ...size, 'content-type': 'application/jsonp-not' }),
    ],
    ['1,000 headers', noHttp(431), raw({ ...size, ...manyHeaders(1000, 30) })],
    ['a header of 1 MB', tooLong, raw({ ...size, x: 'a'.repeat(1_000_000) })],
    ['a header of 15 kB', legal(), raw({ ...size, x: 'a'.repeat(15_000) })],
    ['a header without a colon', noHttp(), raw({ ...size, 'x\r\nnocolon': '1' })],
    ['a space in a header name', noHttp(), raw({ ...size, 'a b': '1' })],
    ['NUL in a header', noHttp(), raw({ ...size, x: 'a\u0000b' })],
    ['a folded header', noHttp(), raw({ ...size, x: 'a\r\n b' })],
    ['a bare line feed', noHttp(), raw({ ...size, x: 'a\nb: c' })],
    ['upgrade to a websocket', legal(), raw({ ...size, connection: 'close, upgrade', upgrade: 'websocket' })],
    ['upgrade to HTTP/2', legal(), raw({ ...size, connection: 'close, upgrade', upgrade: 'h2c' })],
    ['another method in a header', legal(), raw({ ...size, 'x-http-method-override': 'DELETE' })],
    ['ten addresses it comes from', legal(), raw({ ...size, 'x-forwarded-for': '::1, '.repeat(10) })],
    ['expect something strange', noHttp(417), raw({ ...size, expect: '200-maybe' })],
  ]
  return cases.map(([what, expected, bytes]) => ({ what, expected, raw: bytes }))
})

const manyHeaders = (count: number, length: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'a'.repeat(length)]))

/** Keys that are wrong, and right ones in wrong places. */
export const keys: Kind = listOf('keys', ({ target }) => {
  const { secrets, headers: honest, plain } = target
  const [key] = secrets
  const name = honest['authorization'] === undefined ? 'x-api-key' : 'authorization'
  const prefix = name === 'authorization' ? 'Bearer ' : ''
  const wrong = refused(/key/i, 401)
  const body = JSON.stringify(plain.body)
  const as = (what: string, own: Record<string, string | string[] | null>, expected = wrong): Attempt => ({
    what,
    expected,
    asked: { ...post(plain.path, body), headers: { authorization: null, 'x-api-key': null, ...own } },
  })
  const halves = [
    key.slice(0, -1),
    `${key}0`,
    key.toUpperCase(),
    key.slice(0, 8),
    key.split('').reverse().join(''),
  ]
  const bytes = (value: string): string[] =>
    rawPost(target, { [name]: value, 'content-length': String(body.length) }, body)
  return [
    as('none', {}),
    ...['', ' ', 'x', 'null', 'undefined', '*', '%', '../', '{}', '[]', 'true', "' or '1'='1", '\t'].map(
      (each) => as(JSON.stringify(each), { [name]: prefix + each }),
    ),
    ...halves.map((each, i) => as(`nearly the key (${i})`, { [name]: prefix + each })),
    as('another scheme', { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` }),
    as('as a cookie', { cookie: `key=${key}` }),
    {
      what: 'in the query',
      expected: wrong,
      asked: { ...post(`${plain.path}?key=${key}`, body), headers: { [name]: null } },
    },
    as('twice, first wrong', { [name]: [`${prefix}x`, prefix + key] }),
    as('15 kB', { [name]: prefix + 'k'.repeat(15_000) }),
    { what: '1 MB', expected: tooLong, raw: bytes(prefix + 'k'.repeat(1_000_000)) },
    { what: 'bytes that are no text', expected: wrong, raw: bytes(`${prefix}\u00ff\u00fe`) },
    {
      what: 'wrong, with a body of 100 MB announced',
      expected: wrong,
      raw: rawPost(target, { [name]: `${prefix}x`, 'content-length': '104857600' }, ''),
    },
    as('in lower case', { authorization: `bearer ${key}` }, legal()),
  ]
})

/** Names of hosts and origins that only a foreign web page would send, to a server without a key. */
export const strangers: Kind = listOf('hosts and origins, without a key', ({ target }) => {
  const body = JSON.stringify(target.plain.body)
  const size = { 'content-length': String(body.length) }
  const hosts = ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '0.0.0.0', '10.0.0.1']
  const names = [
    'evil.example:80',
    'localhost:80:80',
    'localhost@evil.example',
    '[::2]',
    '2130706433',
    '127.1',
  ]
  const odd = ['LOCALHOST.', 'local host', '', 'localhost/x', '\u00fc', '127.0.0.1#@evil', 'a'.repeat(10_000)]
  const foreign = refused(undefined, 400, 403)
  const page = { origin: 'https://evil.example', referer: 'https://evil.example/' }
  const asPage = (
    what: string,
    own: Record<string, string | null>,
    expected: Attempt['expected'],
    method = 'POST',
  ): Attempt => ({
    what,
    expected,
    asked: {
      method,
      path: target.plain.path,
      headers: { ...page, ...own },
      ...(method === 'POST' && { body }),
    },
  })
  const wish = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
  return [
    ...[...hosts, ...names, ...odd].map((name) => ({
      what: `host ${name.slice(0, 40)}`,
      expected: { ...foreign, bare: true },
      raw: rawPost(target, { ...size, host: name }, body),
    })),
    {
      what: 'no host',
      expected: noHttp(),
      raw: [`${lineOf('GET', '/v1/models')}\r\nconnection: close\r\n\r\n`],
    },
    {
      what: 'two hosts',
      expected: { ...foreign, bare: true },
      raw: rawPost(target, { ...size, host: ['evil.example', '127.0.0.1'] }, body),
    },
    {
      what: 'an absolute address',
      expected: foreign,
      raw: [
        `POST http://evil.example${target.plain.path} HTTP/1.1\r\nhost: evil.example\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
      ],
    },
    asPage('may I? (preflight)', wish, refused(undefined, 404, 405), 'OPTIONS'),
    ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'].map((type) =>
      asPage(`a page sends ${type}`, { 'content-type': type }, refused(/application\/json/, 415)),
    ),
    asPage('a page sends no type', { 'content-type': null }, refused(/application\/json/, 415)),
  ]
})

/** Bodies that are too long, with and without a length. */
export const longBodies = (mostBytes: number): Kind =>
  listOf('long bodies', ({ target }) => {
    const { path, body } = target.plain
    const large = refused(/longer|more than/, 413)
    const endless = { ...large, closed: true }
    const whole = JSON.stringify(body)
    const announced = (bytes: number): Iterable<string> =>
      many(rawPost(target, { 'content-length': String(bytes) }, '')[0], 'x'.repeat(65_536), bytes)
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const chunks = many(rawPost(target, { 'transfer-encoding': 'chunked' }, '')[0], chunk, Infinity)
    return [
      { what: '100 MB', expected: large, raw: announced(100 * 2 ** 20) },
      { what: 'one byte too many', expected: large, raw: announced(mostBytes + 1) },
      // The server reads on for a moment, and then ends the connection.
      { what: '1 TB announced', expected: endless, raw: announced(2 ** 40) },
      { what: '8 PB announced', expected: endless, raw: announced(2 ** 53 - 1) },
      { what: 'chunks without end', expected: endless, raw: chunks },
      {
        what: 'the longest body, blanks',
        expected: legal(),
        asked: post(path, whole + ' '.repeat(mostBytes - whole.length)),
      },
    ]
  })

/** A beginning and so many bytes of the same, but no more than a gigabyte. */
const many = (head: string, piece: string, bytes: number): Iterable<string> => ({
  *[Symbol.iterator]() {
    yield head
    let left = Math.min(bytes, 2 ** 30)
    for (; left >= piece.length; left -= piece.length) yield piece
    yield piece.slice(0, left)
  },
})
