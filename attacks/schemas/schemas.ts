import { longestAllowed } from '../attack.ts'
import type { AttackOptions, AttackPart, AttackResult } from '../attack.ts'
import { openMeasuredThread } from '../measured-thread.ts'
import type { Broken } from '../measured-thread.ts'
import type { BombAnswer } from './bomb.ts'
import { bombs } from './bombs.ts'

/** Processor time after which a function that has not ended counts as endless. */
const limitSeconds = 10

/** JSON Schemas, patterns, templates and texts that should make their readers work without end, each thrown at all that read it. */
export const schemas: AttackPart = {
  name: 'schemas',
  about: 'schemas, patterns, templates and texts that should make their readers work without end',
  run: throwBombs,
}

async function throwBombs({ done, report, signal }: AttackOptions): Promise<Record<string, number>> {
  const thread = openMeasuredThread<string, BombAnswer>(
    new URL('worker.ts', import.meta.url).href,
    null,
    limitSeconds,
  )
  const stop = (): void => void thread.close()
  signal.addEventListener('abort', stop)
  try {
    for (const { name } of bombs) {
      if (done.some((result) => result.name === name)) continue
      let answer = await thread.ask(name)
      for (let more = 0; more < 2 && isSlow(answer); more++) answer = shorter(answer, await thread.ask(name))
      signal.throwIfAborted()
      report(resultOf(name, answer))
    }
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.close()
  }
  return { bombs: bombs.length }
}

/** Whether it took somewhat too long. A busy machine makes processor time longer: of three times, the shortest counts. */
const isSlow = (answer: BombAnswer | Broken): boolean =>
  !('broken' in answer) &&
  answer.longestSection > longestAllowed.elsewhere &&
  answer.longestSection < 3 * longestAllowed.elsewhere

function shorter(one: BombAnswer | Broken, other: BombAnswer | Broken): BombAnswer | Broken {
  if ('broken' in one || 'broken' in other) return 'broken' in one ? one : other
  return one.longestSection <= other.longestSection ? one : other
}

function resultOf(name: string, answer: BombAnswer | Broken): AttackResult {
  if ('broken' in answer)
    return { name, held: false, happened: `${answer.broken}, in function ${answer.place + 1} that reads it` }
  const { outcomes, faults, longestSection } = answer
  return {
    name,
    held: faults.length === 0,
    happened: faults.length > 0 ? faults.join('; ') : outcomes.join('; '),
    longestSection,
  }
}
