import { defined } from '../../../../defined.ts'
import type { ToolEnvironment } from '../../../agent/types.ts'
import { cheatRates } from '../../../audit/cheating-agents.ts'
import { readScore } from '../../../episode/score.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { type McpTask, planOf } from '../mcp-task.ts'

/** How often an agent solves tasks, and how often chance allows it. */
export interface SolvedShare {
  agent: string
  solved: number
  judged: number
  /** Expected number of tasks that a guess solves, by what their kinds state. The expert has none. */
  chance: number | null
}

/** What tasks are worth for training and evaluation. */
export interface TaskMeasures {
  tasks: number
  shares: SolvedShare[]
  /** Requests that occur twice. */
  duplicates: number
  /** Tasks of kinds whose chance rate is above one tenth. */
  guessable: number
  /** Test tasks whose calls, arguments and initial state are those of a training task. */
  sharedPlans: number
  /** Test tasks whose kind and outcome (answer and state) are those of a training task, of all test tasks. */
  sharedOutcomes: { shared: number; tests: number }
}

/** Plays tasks with their experts and with agents that do not read requests. */
export async function measureTasks(
  environment: ToolEnvironment<McpTask>,
  tasks: readonly McpTask[],
  { seed = 0, signal }: { seed?: number; signal?: AbortSignal | undefined } = {},
): Promise<TaskMeasures> {
  const chance = tasks.reduce((sum, task) => sum + chanceOf(task), 0)
  const expert = await playExperts(environment, tasks, signal)
  const shares: SolvedShare[] = [{ agent: 'expert', ...expert, chance: null }]
  const rates = await cheatRates(environment, tasks, { seed, ...defined({ signal }) })
  for (const [agent, kinds] of Object.entries(rates)) {
    const each = Object.values(kinds)
    const judged = each.reduce((sum, { n }) => sum + n, 0)
    const solved = each.reduce((sum, { mean, n }) => sum + (n === 0 ? 0 : mean * n), 0)
    shares.push({ agent, solved: Math.round(solved), judged, chance })
  }
  return { tasks: tasks.length, shares, ...compareSplits(tasks) }
}

/** How much the tasks repeat, within and between their splits. Plays nothing. */
export function compareSplits(tasks: readonly McpTask[]): Omit<TaskMeasures, 'tasks' | 'shares'> {
  const train = tasks.filter(({ split }) => split === 'train')
  const tests = tasks.filter(({ split }) => split === 'test' || split === 'unseen-paraphrase')
  const outcome = ({ kind, expected }: McpTask): string =>
    JSON.stringify([kind, expected.answer, expected.state])
  const plans = new Set(train.map(planOf))
  const outcomes = new Set(train.map(outcome))
  return {
    duplicates: tasks.length - new Set(tasks.map(({ prompt }) => prompt)).size,
    guessable: tasks.filter((task) => chanceOf(task) > 0.1).length,
    sharedPlans: tests.filter((task) => plans.has(planOf(task))).length,
    sharedOutcomes: {
      shared: tests.filter((task) => outcomes.has(outcome(task))).length,
      tests: tests.length,
    },
  }
}

function chanceOf({ chance = 0 }: McpTask): number {
  return chance
}

async function playExperts(
  environment: ToolEnvironment<McpTask>,
  tasks: readonly McpTask[],
  signal: AbortSignal | undefined,
): Promise<{ solved: number; judged: number }> {
  const results: (boolean | null)[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < tasks.length) {
      const at = next++
      try {
        results[at] = await playExpert(environment, tasks[at], signal)
      } catch (error) {
        if (!(error instanceof InfrastructureError)) throw error
        results[at] = null
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return {
    solved: results.filter((result) => result === true).length,
    judged: results.filter((result) => result !== null).length,
  }
}

async function playExpert(
  environment: ToolEnvironment<McpTask>,
  task: McpTask,
  signal?: AbortSignal,
): Promise<boolean | null> {
  const session = await environment.open(task, signal === undefined ? {} : { signal })
  const results: { text: string; isError: boolean }[] = []
  try {
    for (let turn = 0; turn < 8; turn++) {
      const move = task.plan(results)
      if ('answer' in move) {
        const { value } = readScore(
          await session.judge({ answer: move.answer, calls: results.length, invalidCalls: 0 }),
          task.id,
        )
        return value === null ? null : value >= 1
      }
      results.push(await session.call(move.call.name, move.call.arguments))
    }
    return false
  } finally {
    await session.close()
  }
}
