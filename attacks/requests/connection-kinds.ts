// Connections that are slow, cut, or many.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Socket } from 'node:net'
import { type Answer, converse, dangle, rawRequest } from './exchange.ts'
import { legal, type Expected } from './judge.ts'
import { askAs, type Kind, type KindContext, judged, post, type Tried } from './kinds.ts'
import type { Target } from './targets.ts'

const seconds = (value: number): number => value * 1000
const line = ({ plain }: Target): string => `POST ${plain.path} HTTP/1.1`
const usual = (target: Target): Record<string, string> => ({ host: '127.0.0.1', ...target.headers })

/** The bytes of an honest request. */
function wholeRequest(target: Target, body: unknown = target.plain.body): string {
  const text = JSON.stringify(body)
  return rawRequest(
    line(target),
    { ...usual(target), 'content-length': String(Buffer.byteLength(text)) },
    text,
  )
}

/** While `count` connections are open, honest requests are answered as before. */
async function besideHonest(
  { target, signal }: KindContext,
  what: string,
  open: (place: number) => Promise<Socket>,
  { count, feed, lasting }: { count: number; feed?: string; lasting: number },
): Promise<Tried[]> {
  const time = Date.now()
  const before = await target.honest()
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) sockets.push(await open(i))
  const until = Date.now() + seconds(lasting)
  const problems: string[] = []
  let asked = 0
  do {
    if (feed !== undefined) for (const socket of sockets) socket.write(feed)
    const began = Date.now()
    const now = await target.honest()
    asked++
    if (now !== before) problems.push(`an honest request beside them: ${now.slice(0, 200)}`)
    if (Date.now() - began > seconds(60))
      problems.push('an honest request beside them took more than a minute')
    await sleep(100)
  } while (Date.now() < until && !signal.aborted)
  for (const socket of sockets) socket.destroy()
  await sleep(100)
  const how = `held open beside ${asked} honest ones`
  const [problem] = problems
  return Array.from({ length: count }, () => ({ what, how, time, ...(problem && { problem }) }))
}

/** Requests that come byte by byte, or stop and stay open. */
export const slow: Kind = {
  name: 'slow requests',
  async run(context) {
    const { target, quick } = context
    const whole = wholeRequest(target)
    const head = whole.indexOf('\r\n\r\n')
    const count = quick ? 10 : 40
    const lasting = quick ? 0.5 : 20
    const begun = (bytes: string) => (): Promise<Socket> => dangle(target.port, bytes)
    const cases: [string, () => Promise<Socket>, string?][] = [
      ['a header line that never ends', begun(whole.slice(0, 10)), 'x'],
      ['headers that never end', begun(whole.slice(0, head)), '\r\nx-more: 1'],
      ['a body that comes byte by byte', begun(whole.slice(0, head + 8)), ' '],
      [
        'chunks of one byte',
        begun(rawRequest(line(target), { ...usual(target), 'transfer-encoding': 'chunked' })),
        '1\r\n \r\n',
      ],
      ['nothing at all', begun('')],
      ['half a body, then nothing', begun(whole.slice(0, head + 20))],
    ]
    const tried: Tried[] = []
    for (const [what, open, feed] of cases)
      tried.push(...(await besideHonest(context, what, open, { count, lasting, ...(feed && { feed }) })))
    return tried
  },
}

/** Requests that are given up in the middle, at places drawn by seed. */
export const cut: Kind = {
  name: 'requests that are cut off',
  async run({ target, quick, random }) {
    const whole = wholeRequest(target)
    const tried: Tried[] = []
    for (let i = 0; i < (quick ? 20 : 100); i++) {
      const at = 1 + random.int(whole.length - 1)
      const [time, how] = [Date.now(), random.pick(['reset', 'ended'] as const)]
      const socket = await dangle(target.port, whole.slice(0, at))
      if (how === 'reset') socket.resetAndDestroy()
      else socket.end()
      await sleep(random.int(10))
      tried.push({ what: `cut at ${at}`, how, time })
      if (how === 'ended') setTimeout(() => socket.destroy(), seconds(5)).unref()
    }
    return tried
  },
}

/** Clients that ask and do not wait for the answer. Their rows must not stay: there is room for 256. */
export const hangUps = (body: Readonly<Record<string, unknown>>): Kind => ({
  name: 'clients that hang up',
  async run({ target, quick, random }) {
    const tried: Tried[] = []
    for (let i = 0; i < (quick ? 12 : 60); i++) {
      const stream = random.next() < 0.5
      const time = Date.now()
      const socket = await dangle(
        target.port,
        wholeRequest(target, { ...target.plain.body, ...body, stream }),
      )
      const patience = random.pick([0, 5, 50, 200])
      if (patience > 0) await sleep(patience)
      if (random.next() < 0.5) socket.resetAndDestroy()
      else socket.destroy()
      tried.push({
        what: `hung up after ${patience} ms`,
        how: stream ? 'a stream left' : 'an answer left',
        time,
      })
    }
    return tried
  },
})

/** Many honest clients that are served at the same time. */
export const crowd = (count: number): Kind => ({
  name: `${count} connections at once`,
  async run({ target }) {
    const { plain } = target
    const busy: Expected = { status: [200, 429] }
    const time = Date.now()
    const asked: Promise<Tried>[] = []
    for (let i = 0; i < count; i++) {
      // All in the same millisecond would be one long turn of the event loop, of many short parts.
      if (i % 10 === 0) await sleep(2)
      const reaction = askAs(target, post(plain.path, plain.body))
      asked.push(
        reaction.then((found) =>
          judged(target, { what: 'an honest request', expected: busy, reaction: found, time }),
        ),
      )
    }
    return Promise.all(asked)
  },
})

/** Several requests on one connection, before the first answer. */
export const pipelined: Kind = {
  name: 'requests on one connection before the first answer',
  async run({ target, quick }) {
    const count = quick ? 20 : 100
    const time = Date.now()
    const found = await converse(target.port, [wholeRequest(target).repeat(count)], { answers: count })
    const answers: (Answer | undefined)[] = Array.isArray(found) ? found : []
    return Promise.all(
      Array.from({ length: count }, (_, i) =>
        judged(target, {
          what: `number ${i}`,
          expected: legal(),
          reaction: answers[i] ?? { ended: 'closed' },
          time,
        }),
      ),
    )
  },
}

/** Stalled requests are given up by the server, which takes minutes. */
export const givenUp: Kind = {
  name: 'stalled requests are given up',
  async run({ target, quick }) {
    if (quick) return []
    const whole = wholeRequest(target)
    const head = whole.indexOf('\r\n\r\n')
    const places = [10, head - 5, head + 8]
    const time = Date.now()
    const reactions = await Promise.all(
      places.map((at) => converse(target.port, [whole.slice(0, at)], { limitSeconds: 400 })),
    )
    const expected: Expected = { status: [408], bare: true, closed: true }
    return Promise.all(
      reactions.map((found, i) => {
        const reaction = Array.isArray(found) ? found[0] : found
        return judged(target, { what: `stalled at ${places[i]}`, expected, reaction, time })
      }),
    )
  },
}
