// Throws one bomb after another, as the part of `npm run attack` asks.
import { AgogeError } from '../../src/error.ts'
import { UnusableSchema } from '../../src/llm/environment/mcp/arguments/schema-parts.ts'
import { RequestError } from '../../src/llm/serving/openai/protocol.ts'
import { WorkLimit } from '../../src/untrusted/linear-pattern.ts'
import { longestAllowed } from '../attack.ts'
import { answerTasks, withLongestSection } from '../in-thread.ts'
import { visibleLine } from '../../src/untrusted/visible-text.ts'
import { longestSlow } from './bomb.ts'
import type { BombAnswer } from './bomb.ts'
import { bombs } from './bombs.ts'
import { notReached } from './schema-targets.ts'

/** Characters of an outcome that are shown. */
const shown = 100

answerTasks(async (name: string, _: unknown, setPlace: (place: number) => void): Promise<BombAnswer> => {
  const found = bombs.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no bomb "${name}"`)
  const outcomes: string[] = []
  const faults: string[] = []
  let longestSection = 0
  let place = 0
  for (const [target, given] of Object.entries(found.prepare())) {
    setPlace(place++)
    const isSlow = typeof given === 'object'
    const { value, error, longest } = await withLongestSection(isSlow ? given.slow : given)
    if (!isSlow) longestSection = Math.max(longestSection, longest)
    if (longest > (isSlow ? longestSlow : longestAllowed.elsewhere))
      faults.push(`${target} took ${longest.toFixed(0)} ms in one section`)
    const refusal = value ?? refusalOf(error, target)
    if (refusal === undefined) faults.push(`${target}: ${visibleLine(String(error), shown)}`)
    else if (refusal !== notReached) outcomes.push(`${target}: ${visibleLine(refusal, shown)}`)
  }
  return { outcomes, faults, longestSection }
})

/** What a caller can tell a user. Undefined: a fault of our own. Arguments that cannot be made have an error of their own. */
function refusalOf(error: unknown, target: string): string | undefined {
  if (target === 'arguments') return error instanceof UnusableSchema ? `refused: ${error.message}` : undefined
  if (AgogeError.isInstance(error)) return `refused: ${error.message}`
  return error instanceof RequestError || error instanceof WorkLimit ? `refused: ${error.message}` : undefined
}
