import { createRandom } from '../../src/engine/random/index.ts'
import { AgogeError } from '../../src/error.ts'
import { longestAllowed } from '../attack.ts'
import { threadTime } from '../in-thread.ts'
import { Mismatch } from './parser.ts'
import type { FuzzParser, Input, Stage } from './parser.ts'

/** What one input did. */
export interface Attempt {
  stage: Stage
  milliseconds: number
  /** What was broken. Undefined: nothing. */
  fault?: string
}

/** Input number `number` of a parser. It depends on nothing else. */
export const inputOf = (parser: FuzzParser, seed: number, number: number): Input =>
  parser.make(createRandom(seed, parser.name, number))

/** What every object inherits, by name. */
const inherited = (): [string | symbol, unknown][] =>
  Reflect.ownKeys(Object.prototype).map((name) => [
    name,
    Reflect.getOwnPropertyDescriptor(Object.prototype, name)?.value,
  ])
const before = inherited()

/** What was done to all objects, if anything. */
function pollution(): string | undefined {
  const now = inherited()
  if (now.length === before.length && now.every(([, value], i) => value === before[i][1])) return undefined
  return `Object.prototype has changed: ${now.map(([name]) => String(name)).join(', ')}`
}

/**
 * Gives an input to its parser. Of one that takes too long the shortest of three times counts: a busy machine makes processor time
 * longer. One that takes twice as long as allowed is not tried again, since what is remembered may make it faster.
 */
export async function attackWith(parser: FuzzParser, input: Input): Promise<Attempt> {
  const most = parser.longest ?? longestAllowed.elsewhere
  let attempt = await attackOnce(parser, input)
  for (let more = 0; more < 2 && attempt.milliseconds > most && attempt.milliseconds < 2 * most; more++) {
    const again = await attackOnce(parser, input)
    if (again.milliseconds < attempt.milliseconds) attempt = again
  }
  if (attempt.milliseconds <= most || attempt.fault !== undefined) return attempt
  return { ...attempt, fault: `it took ${attempt.milliseconds.toFixed(0)} ms` }
}

async function attackOnce(parser: FuzzParser, input: Input): Promise<Attempt> {
  let stage: Stage = 0
  let fault: string | undefined
  const reach = (reached: Stage): void => void (stage = reached > stage ? reached : stage)
  const began = threadTime()
  try {
    await parser.parse(input, reach)
  } catch (error) {
    if (!AgogeError.isInstance(error) && parser.refuses?.(error) !== true) fault = faultOf(error)
  }
  const milliseconds = threadTime() - began
  fault ??= pollution()
  return { stage, milliseconds, ...(fault === undefined ? {} : { fault }) }
}

function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${typeof error}`
  const name = error instanceof Mismatch ? 'Mismatch' : error.name
  const [, place] = /\/(src\/[^\s):]+:\d+)/.exec(error.stack ?? '') ?? []
  return `${name}: ${error.message.slice(0, 160)}${place === undefined ? '' : ` (${place})`}`
}
