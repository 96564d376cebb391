import type { Random } from '../../src/engine/random/index.ts'
import type { Asked, Reaction } from './exchange.ts'
import { ask, converse } from './exchange.ts'
import type { Expected } from './judge.ts'
import { problemOf } from './judge.ts'
import type { Target } from './targets.ts'

/** A request as clients send it. Headers come beside those of the target, which bring key and type; null leaves one out. */
export type AskedAs = Omit<Asked, 'headers'> & {
  headers?: Readonly<Record<string, string | string[] | null>>
}

/** A request that a server is tried with. */
export interface Attempt {
  /** In a few words, for a failure: "temperature: true". */
  what: string
  expected: Expected
  asked?: AskedAs
  /** Instead: bytes, sent as they are. */
  raw?: Iterable<string | Buffer>
}

/** What came of it. */
export interface Tried {
  what: string
  /** How it ended, such as "400", for the count. */
  how: string
  problem?: string
  /** When it was sent (`Date.now()`). */
  time: number
}

export interface KindContext {
  target: Target
  quick: boolean
  random: Random
  signal: AbortSignal
}

/** Requests that abuse a server in the same way. */
export interface Kind {
  name: string
  /** The single requests, if it is made of such. */
  attempts?: (context: KindContext) => readonly Attempt[]
  run: (context: KindContext) => Promise<readonly Tried[]>
}

/** A kind of requests that are sent one after the other. With `quick`, a share of them, drawn by seed. Default: a third. */
export function listOf(
  name: string,
  make: (context: KindContext) => readonly Attempt[],
  quickShare = 1 / 3,
): Kind {
  return {
    name,
    attempts: make,
    async run(context) {
      const all = make(context)
      const { quick, random, target, signal } = context
      const share = quick
        ? random.shuffle([...all]).slice(0, Math.max(3, Math.ceil(all.length * quickShare)))
        : all
      const tried: Tried[] = []
      for (const attempt of share) {
        if (signal.aborted) break
        tried.push(await attemptOn(target, attempt))
      }
      return tried
    },
  }
}

/** Sends one request and judges what comes back. */
export async function attemptOn(target: Target, { what, expected, asked, raw }: Attempt): Promise<Tried> {
  const time = Date.now()
  const reaction = raw === undefined ? await askAs(target, asked) : await firstOf(target, raw)
  return judged(target, { what, expected, reaction, time })
}

/** The judgement of what a server did. */
export async function judged(
  target: Target,
  { what, expected, reaction, time }: { what: string; expected: Expected; reaction: Reaction; time: number },
): Promise<Tried> {
  const how = 'ended' in reaction ? reaction.ended : String(reaction.status)
  const problem =
    problemOf(reaction, expected, target) ??
    ('ended' in reaction || reaction.status !== 200 ? undefined : await target.follow?.(reaction))
  return { what, how, time, ...(problem === undefined ? {} : { problem }) }
}

async function firstOf({ port }: Target, raw: Iterable<string | Buffer>): Promise<Reaction> {
  const found = await converse(port, raw)
  return Array.isArray(found) ? found[0] : found
}

/** Sends a request with the key and the type of the target. */
export function askAs({ port, headers, plain }: Target, asked: AskedAs | undefined): Promise<Reaction> {
  const { headers: own = {}, ...rest } = asked ?? { path: plain.path }
  const merged = Object.entries({ ...headers, ...own }).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  )
  return ask(port, { method: 'POST', ...rest, headers: Object.fromEntries(merged) })
}

/** A POST of a body, as JSON or as it is given. */
export function post(path: string, body: unknown): AskedAs {
  const given = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return { method: 'POST', path, body: given }
}

/** How many requests ended how: "12 × 400, 3 × 200". */
export function countsOf(tried: readonly Tried[]): string {
  const counts = new Map<string, number>()
  for (const { how } of tried) counts.set(how, (counts.get(how) ?? 0) + 1)
  return [...counts].map(([how, count]) => `${count} × ${how}`).join(', ')
}
