import type { Outcome, ToolSession, ToolEnvironment } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import type { McpTask } from './mcp-task.ts'
import { answerMatches } from './salient.ts'
import { newState } from './state-pool.ts'
import type { EpisodeState } from './state-pool.ts'
import { specsOf } from './tool-system.ts'
import type { ToolSystem } from './tool-system.ts'

/**
 * The environment in which generated tasks are done. Every episode has a state of its own; it succeeds when it answered
 * as the reference does and left the state that the reference leaves, whatever calls it made on the way.
 */
export function createSystemEnvironment(system: ToolSystem): ToolEnvironment<McpTask> {
  return {
    name: system.name,
    get tools() {
      return specsOf(system.offered)
    },
    provesTasks: true,
    async open(task, { signal }) {
      signal?.throwIfAborted()
      return openSession(system, task, signal)
    },
    close: () => system.close(),
  }
}

function openSession(system: ToolSystem, task: McpTask, signal?: AbortSignal): ToolSession {
  const state = newState(task.seeds)
  const specs = specsOf(system.offered)
  const names = new Set(specs.map((spec) => spec.name))
  return {
    specs,
    async call(name, args, options) {
      // A name that is not on offer is the policy's mistake; it never reaches the server.
      if (!names.has(name)) return { text: `error: no tool ${name}`, isError: true }
      return system.call(state, name, args, { ...options, signal: options?.signal ?? signal })
    },
    async judge(outcome) {
      const score = await judgeState(system, task, state, outcome, signal)
      if (score.value === 1 || system.changeable) return score
      // A live system may have changed since the task was made; then the answer cannot be judged.
      const now = await answerNow(system, task, signal)
      if ('answer' in now && now.answer === task.expected.answer) return score
      const reason =
        'failed' in now
          ? `the reference solution failed ${referenceTries} times when it was repeated: ${now.failed}`
          : 'the system behind the tools changed since the task was made'
      return { value: null, reason }
    },
    close: async () => {},
  }
}

async function judgeState(
  system: ToolSystem,
  task: McpTask,
  state: EpisodeState,
  outcome: Outcome,
  signal?: AbortSignal,
): Promise<Scored> {
  const { expected } = task
  const parts: Record<string, number> = {
    answer: Number(
      expected.answer === null
        ? outcome.answer !== null
        : answerMatches(outcome.answer, expected.answer, expected.others),
    ),
    // Knowing the answer beforehand is not what was asked for.
    called: Number(outcome.calls > 0),
  }
  if (expected.state !== null) {
    // Only a call that may change the state can have changed it, and what had to change was seen to change.
    const untouched = state.journal.length === task.seeds.length
    const reached = untouched
      ? task.context['changes'] !== true
      : (await system.observe(state, signal)) === expected.state
    parts['state'] = Number(reached)
  }
  return { value: Number(Object.values(parts).every((part) => part === 1)), parts }
}

/** A tool that fails now and then has not changed: only what fails this often in a row cannot be judged. */
const referenceTries = 3

/** What the reference solution answers now, in a fresh state; or how it failed, each time it was tried. */
async function answerNow(
  system: ToolSystem,
  task: McpTask,
  signal?: AbortSignal,
): Promise<{ answer: string } | { failed: string }> {
  let failed = 'it comes to no end'
  for (let attempt = 0; attempt < referenceTries; attempt++) {
    const state = newState(task.seeds)
    const results: { text: string; isError: boolean }[] = []
    while (results.length <= 8) {
      const move = task.plan(results)
      if ('answer' in move) return move
      const { name, arguments: args } = move.call
      const result = await system.call(state, name, args, { signal })
      if (result.isError) {
        failed = `${name}: ${result.text}`
        break
      }
      results.push(result)
    }
  }
  return { failed }
}
