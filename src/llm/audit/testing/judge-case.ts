import type { EpisodeLimits } from '../../agent/episode-state.ts'
import type { Expert, Task, TaskSource, ToolEnvironment } from '../../agent/types.ts'
import { openDefinition } from '../../environment/catalogue.ts'
import { defineToolEnvironment } from '../../environment/definition/define-tool-environment.ts'
import type {
  DefinedTask,
  JudgeInputs,
  ToolEnvironmentDefinition,
} from '../../environment/definition/define-tool-environment.ts'
import { readScore } from '../../episode/score.ts'
import type { Score } from '../../episode/score.ts'
import type { Reward } from '../../reward/reward.ts'

/** What `auditEnvironment` is given. */
export interface OpenedCase {
  environment: ToolEnvironment
  tasks: TaskSource
  limits?: Partial<EpisodeLimits>
  reward?: Reward
}

/** An environment with two judges, the right one and one with a seeded bug, and a check that is independent of both. */
export interface JudgeCase {
  name: string
  /** What the wrong judge does. Absent: there is only a right judge. */
  bug?: string
  open(judge: 'right' | 'wrong'): Promise<OpenedCase>
  /** Whether the task was really done. Not used by any judge. */
  done(outcome: { task: Task; state: unknown; answer: string | null }): boolean
  /** Calls and an answer which the wrong judge rewards although the task is not done. */
  exploit?: (task: Task) => Expert
}

interface DefinedCase<State> {
  bug?: string
  definition: ToolEnvironmentDefinition<State>
  /** Default: the default judge. */
  right?: (inputs: JudgeInputs<State>) => boolean | Score
  wrong?: (inputs: JudgeInputs<State>) => boolean | Score
  done(outcome: { task: DefinedTask<State>; start: State; state: State; answer: string }): boolean
  exploit?: (task: DefinedTask<State>) => Expert
}

/** A case of `defineToolEnvironment`. */
export function defineCase<State>(given: DefinedCase<State>): JudgeCase {
  const { definition, bug, right, wrong, exploit } = given
  return {
    name: definition.name,
    ...(bug !== undefined && { bug }),
    open(judge) {
      const chosen = judge === 'right' ? right : wrong
      return openDefinition(defineToolEnvironment({ ...definition, ...(chosen && { judge: chosen }) }))
    },
    done({ task, state, answer }) {
      const defined = task as DefinedTask<State>
      // A defined environment observes a part of its state where it names one.
      return given.done({ task: defined, start: defined.start, state: state as State, answer: answer ?? '' })
    },
    ...(exploit && { exploit: (task: Task) => exploit(task as DefinedTask<State>) }),
  }
}

export interface Played {
  /** Whether the judge counts it as a success. */
  success: boolean
  done: boolean
  answer: string
  results: { text: string; isError: boolean }[]
}

/** Plays moves in a session of their own, and asks the judge and the independent check. */
export async function playCase(
  one: JudgeCase,
  opened: OpenedCase,
  task: Task,
  moves: Expert,
): Promise<Played> {
  const session = await opened.environment.open(task, {})
  const results: { text: string; isError: boolean }[] = []
  try {
    for (let turn = 0; turn < 40; turn++) {
      const move = moves(results)
      if ('answer' in move) {
        const score = await session.judge({ answer: move.answer, calls: results.length, invalidCalls: 0 })
        const { value } = readScore(score, task.id)
        const state = await session.observe?.()
        const done = one.done({ task, state, answer: move.answer })
        return { success: value !== null && value >= 1, done, answer: move.answer, results }
      }
      results.push(await session.call(move.call.name, move.call.arguments))
    }
    throw new Error('the moves come to no answer')
  } finally {
    await session.close()
  }
}
