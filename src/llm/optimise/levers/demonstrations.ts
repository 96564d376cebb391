import type { Random } from '../../../engine/random/random.ts'
import { setupId, type Demonstration } from '../../setup/setup.ts'
import { demonstrationOf } from '../examples.ts'
import type { Lever, LeverContext } from '../lever.ts'

/** Numbers of demonstrations, one after the other. */
const sizes = [2, 4, 1, 6]

/**
 * Shows solved training tasks before each conversation: attempts that succeeded, and where a task expects an answer and the agent has no tools,
 * that answer. Sets of them are drawn by chance; those that help are kept.
 *
 * Source: Khattab et al., DSPy (arXiv 2310.03714), BootstrapFewShotWithRandomSearch.
 */
export const demonstrations: Lever = {
  name: 'demonstrations',
  source: 'DSPy (arXiv 2310.03714)',
  // Each is about as long as a trial.
  costFactor: 1 + sizes[0],
  unusable: (context) =>
    poolOf(context).length > 0
      ? undefined
      : 'no training task was solved, and none expects an answer that could be shown',
  propose(context) {
    const pool = poolOf(context)
    const known = new Set(context.candidates.map(({ id }) => id))
    // One set at a time: each makes every trial dearer, and so the test at the end.
    for (let at = 0; at < sizes.length; at += 1) {
      const size = Math.min(sizes[(context.round + at) % sizes.length], pool.length)
      const shown = drawByKind(pool, size, context.random)
      const setup = { ...context.best, demonstrations: shown.map(({ demonstration }) => demonstration) }
      const about = `${size} solved tasks: ${shown.map(({ id }) => id).join(', ')}`
      if (size > 0 && !known.has(setupId(setup))) return Promise.resolve([{ setup, about }])
    }
    return Promise.resolve([])
  },
}

interface Solved {
  id: string
  kind: string
  demonstration: Demonstration
}

function poolOf({ trials, train, tools }: LeverContext): Solved[] {
  const pool = new Map<string, Solved>()
  for (const trial of trials()) {
    const { task, record } = trial
    if (record.success !== true || pool.has(task.id)) continue
    const demonstration = demonstrationOf(trial)
    if (demonstration.messages.length > 1)
      pool.set(task.id, { id: task.id, kind: task.kind ?? 'own', demonstration })
  }
  if (tools.length === 0)
    for (const { id, kind = 'own', prompt, expected: { answer } = {} } of train) {
      if (pool.has(id) || (typeof answer !== 'string' && typeof answer !== 'number')) continue
      const messages = [
        { role: 'user', text: prompt },
        { role: 'assistant', text: String(answer) },
      ] as const
      pool.set(id, { id, kind, demonstration: { task: id, messages } })
    }
  return [...pool.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Draws without repetition, taking turns among the kinds of tasks. */
function drawByKind(pool: readonly Solved[], count: number, random: Random): Solved[] {
  const rest = new Map<string, Solved[]>()
  for (const one of pool) rest.set(one.kind, [...(rest.get(one.kind) ?? []), one])
  const drawn: Solved[] = []
  while (drawn.length < count) {
    const kinds = [...rest.values()].filter((of) => of.length > 0)
    if (kinds.length === 0) break
    const fewest = Math.min(...kinds.map((of) => drawn.filter(({ kind }) => kind === of[0].kind).length))
    const next = kinds.filter((of) => drawn.filter(({ kind }) => kind === of[0].kind).length === fewest)
    const of = next[random.int(next.length)]
    drawn.push(of.splice(random.int(of.length), 1)[0])
  }
  return drawn
}
