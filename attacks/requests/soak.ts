import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../src/engine/random/index.ts'
import { type AttackPart, longestAllowed } from '../attack.ts'
import type { Stall } from '../stalls.ts'
import { ask, dangle, rawRequest } from './exchange.ts'
import { parsed, recordOf } from './judge.ts'
import { type Attempt, attemptOn, type KindContext } from './kinds.ts'
import { endpointKinds } from './requests.ts'
import { endTarget, sectionsOf, startEndpoint, type Target } from './targets.ts'

const seconds = { full: 30 * 60, quick: 30 }
/** Minutes after which memory may not grow by more than a tenth. */
const settled = 5
const honestClients = 6
const abusers = 3
const leavers = 2

const chat = '/v1/chat/completions'
/** What honest clients ask, greedily. */
const questions: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ...['hello', 'Read the file notes.txt', 'How many files are there?', 'What is 12 and 30?', 'thank you'].map(
    (content) => [chat, { messages: [{ role: 'user', content }], max_tokens: 24 }] as const,
  ),
  [chat, { messages: [{ role: 'user', content: 'hello' }], max_tokens: 8, stop: ['o'] }],
  ['/v1/completions', { prompt: 'The quick brown', max_tokens: 12 }],
  ['/v1/completions', { prompt: [20, 30, 40, 50], max_tokens: 8, return_token_ids: true }],
]

interface Tally {
  honest: number
  abusive: number
  left: number
  /** Times that an honest client had to wait because the server was full. */
  busy: number
  failures: string[]
}

/** The endpoint under full load for half an hour. */
export const soak: AttackPart = {
  name: 'soak',
  about: 'the endpoint for half an hour at full load: honest clients beside abuse and hang-ups',
  async run({ seed, quick, folder, done, report, signal }) {
    if (done.length > 0) return {}
    const place = join(folder, 'soak')
    mkdirSync(place, { recursive: true })
    const target = await startEndpoint({ folder: place, name: 'soak' })
    try {
      const tally: Tally = { honest: 0, abusive: 0, left: 0, busy: 0, failures: [] }
      const until = Date.now() + 1000 * (quick ? seconds.quick : seconds.full)
      const goesOn = (): boolean => Date.now() < until && !signal.aborted && tally.failures.length < 10
      const first = await Promise.all(questions.map((question) => answerTo(target, question, tally, 5)))
      const pool = attemptsOf({ target, quick, random: createRandom(seed, 'pool'), signal })
      const memory: number[] = []
      const workers = [
        ...clients(
          honestClients,
          (random) => honestClient(target, first, random, tally),
          seed,
          'honest',
          goesOn,
        ),
        ...clients(abusers, (random) => abuse(target, pool, random, tally), seed, 'abuse', goesOn),
        ...clients(leavers, (random) => leave(target, random, tally), seed, 'leave', goesOn),
        watchMemory(target, memory, goesOn),
      ]
      await Promise.all(workers)
      signal.throwIfAborted()
      const growth = growthOf(memory)
      const longest = longestOf(sectionsOf(target))
      const pauses = pausesText(target.stalls(), longestOf(target.running.sections()))
      const end = await endTarget(target)
      const { honest, abusive, left, busy, failures } = tally
      const problems = [
        ...(failures.length === 0 ? [] : [`${failures.length} failures: ${failures.slice(0, 3).join('; ')}`]),
        ...(growth === undefined || growth <= 0.1
          ? []
          : [`memory grew by ${(100 * growth).toFixed(0)}% after ${settled} minutes`]),
        ...(longest <= longestAllowed.endpoint ? [] : [`a section of ${longest.toFixed(0)} ms`]),
        ...(end === undefined ? [] : [end]),
      ]
      const grew =
        growth === undefined ? '' : `, ${(100 * growth).toFixed(1)}% more than after ${settled} minutes`
      const load = `${honest} honest requests beside ${abusive} abusive ones and ${left} hang-ups in ${memory.length} s`
      const happened = `${load}; ${Math.round(memory.at(-1) ?? 0)} MB at the end${grew}${pauses}`
      report({
        name: 'half an hour at full load',
        held: problems.length === 0,
        happened: [happened, ...problems].join('; '),
        longestSection: longest,
      })
      return {
        'honest requests': honest,
        'abusive requests': abusive,
        'hang-ups': left,
        'told to wait': busy,
      }
    } finally {
      target.running.kill()
    }
  },
}

const longestOf = (all: readonly { milliseconds: number }[]): number =>
  all.reduce((longest, { milliseconds }) => Math.max(longest, milliseconds), 0)

/** What the machine itself did to the measure of sections. */
function pausesText(stalls: readonly Stall[], longest: number): string {
  if (stalls.length === 0) return ''
  const [count, most] = [stalls.length.toLocaleString('en'), longestOf(stalls).toFixed(0)]
  return `; not counted: ${count} pauses of the machine, of up to ${most} ms (with them the longest section has ${longest.toFixed(0)} ms)`
}

/** Loops that go on until the time is over. */
function clients(
  count: number,
  once: (random: Random) => Promise<void>,
  seed: number,
  name: string,
  goesOn: () => boolean,
): Promise<void>[] {
  return Array.from({ length: count }, async (_, i) => {
    const random = createRandom(seed, name, i)
    while (goesOn()) await once(random)
  })
}

/** The greedy answer to a question, or how it failed. Waits where the server asks for it, as clients of the protocol do. */
async function answerTo(
  { port, headers }: Target,
  [path, fields]: (typeof questions)[number],
  tally: Tally,
  tries: number,
): Promise<string> {
  const body = JSON.stringify({ ...fields, temperature: 0 })
  const found = await ask(port, { method: 'POST', path, headers, body }, 240)
  if ('ended' in found) return `no answer: ${found.ended}`
  if (found.status === 429 && tries > 0) {
    tally.busy++
    await sleep(1000 * Number(found.headers['retry-after'] ?? 1))
    return answerTo({ port, headers } as Target, [path, fields], tally, tries - 1)
  }
  const { choices } = recordOf(parsed(found.body))
  return found.status === 200 ? JSON.stringify(choices) : `${found.status} ${found.body.slice(0, 200)}`
}

async function honestClient(
  target: Target,
  first: readonly string[],
  random: Random,
  tally: Tally,
): Promise<void> {
  const place = random.int(questions.length)
  const answer = await answerTo(target, questions[place], tally, 60)
  tally.honest++
  if (answer !== first[place])
    tally.failures.push(`${answer.slice(0, 200)} instead of ${first[place].slice(0, 200)}`)
}

/** All single requests of the part `requests`. */
function attemptsOf(context: KindContext): (readonly Attempt[])[] {
  return endpointKinds.flatMap((kind) => (kind.attempts === undefined ? [] : [kind.attempts(context)]))
}

async function abuse(
  target: Target,
  pool: readonly (readonly Attempt[])[],
  random: Random,
  tally: Tally,
): Promise<void> {
  const { what, how } = await attemptOn(target, random.pick(random.pick(pool)))
  tally.abusive++
  if (how.startsWith('5')) tally.failures.push(`${how} for ${what}`)
}

/** Asks for a long answer and leaves, or leaves in the middle of the request. */
async function leave({ port, headers }: Target, random: Random, tally: Tally): Promise<void> {
  const fields = {
    messages: [{ role: 'user', content: 'hello' }],
    n: 4,
    max_tokens: 200,
    temperature: 1,
    stream: random.next() < 0.5,
  }
  const body = JSON.stringify(fields)
  const all = { host: '127.0.0.1', ...headers, 'content-length': String(body.length) }
  const whole = rawRequest(`POST ${chat} HTTP/1.1`, all, body)
  const socket = await dangle(
    port,
    random.next() < 0.5 ? whole : whole.slice(0, 1 + random.int(whole.length - 1)),
  )
  await sleep(random.pick([0, 20, 100, 500]))
  if (random.next() < 0.5) socket.resetAndDestroy()
  else socket.destroy()
  tally.left++
}

/** Resident memory in MB, once a second. */
async function watchMemory({ running }: Target, memory: number[], goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const status = readFileSync(`/proc/${running.pid}/status`, 'utf8')
    memory.push(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024)
    await sleep(1000)
  }
}

/** By how much the median of any later five minutes is above that of the first five that count. Undefined: too short. */
export function growthOf(memory: readonly number[]): number | undefined {
  const window = 60 * settled
  const medians: number[] = []
  for (let at = window; at + window / 2 <= memory.length; at += window)
    medians.push(median(memory.slice(at, at + window)))
  if (medians.length < 2) return undefined
  return Math.max(...medians) / medians[0] - 1
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]
