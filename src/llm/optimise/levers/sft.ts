import { average } from '../../../statistics/statistics.ts'
import { plainSetup } from '../../setup/setup.ts'
import { passes } from '../fine-tune-on-trials.ts'
import type { Lever, LeverContext, SetupTrial } from '../lever.ts'
import { lacksTokens, tokensIn, withTrained } from './trained-setup.ts'

/** Episodes of a task at most, so that easy tasks do not outweigh the others. */
const mostOfTask = 4
/** Fewer solved tasks teach nothing that holds for others. */
const leastTasks = 4
const rounds = 3

/**
 * Trains the local model on the successes of the search: those of all setups on training tasks, without what the setups added to the prompt. If the
 * trained model gains, it tries the training tasks itself, and the model is trained from the start again with what it solved besides.
 *
 * Source: Zelikman et al., STaR (arXiv 2203.14465), without its rationalisation; context distillation (Snell et al., arXiv 2209.15189).
 */
export const sft: Lever = {
  name: 'sft',
  source: 'STaR (arXiv 2203.14465)',
  hasFew: true,
  unusable: ({ training }) => (typeof training === 'string' ? training : undefined),
  waitsFor(context) {
    const { training } = context
    if (typeof training === 'string') return training
    const solved = successes(context)
    const tasks = new Set(solved.map(({ task }) => task.id)).size
    if (tasks < leastTasks) return `${tasks} training tasks were solved, and SFT needs at least ${leastTasks}`
    return lacksTokens(passes * leastTasks * average(solved.map(tokensIn)), training)
  },
  upfront: (context) =>
    typeof context.training === 'string' ? 0 : needed(fitting(successes(context), context.training.share())),
  async propose(context) {
    const { training, round, best, train, candidates } = context
    if (typeof training === 'string' || round >= rounds) return []
    const before = new Set(candidates.flatMap(({ setup }) => setup.model ?? []))
    if (round > 0) {
      // Only a model that gained finds more.
      if (best.model === undefined || !before.has(best.model)) return []
      const known = solvedTasks(context)
      await context.tryOut(best, train)
      if (solvedTasks(context) === known) return []
    }
    const trials = fitting(successes(context), training.share())
    const tokens = needed(trials)
    if (trials.length === 0 || tokens > training.share()) return []
    const name = `sft-${round}`
    const trained = await training.train({ name, tokens, method: { name: 'sft', trials } })
    return trained === undefined ? [] : [withTrained(plainSetup, name, trained)]
  },
}

/** What training on these takes at most. Templates of models differ in length. */
const needed = (trials: readonly SetupTrial[]): number =>
  Math.ceil(1.5 * passes * trials.reduce((sum, trial) => sum + tokensIn(trial), 0))

/** As many as fit, one of each task first. */
function fitting(trials: readonly SetupTrial[], tokens: number): SetupTrial[] {
  const chosen: SetupTrial[] = []
  for (const trial of trials) {
    if (needed([...chosen, trial]) > tokens) break
    chosen.push(trial)
  }
  return chosen
}

const solvedTasks = (context: LeverContext): number =>
  new Set(successes(context).map(({ task }) => task.id)).size

/** Different successes on training tasks: the first of each task, then the second, and so on. */
function successes({ trials }: LeverContext): SetupTrial[] {
  const byTask = new Map<string, Map<string, SetupTrial>>()
  for (const trial of trials()) {
    // Of several samples of an answer, an episode does not say which was right.
    if (trial.record.success !== true || trial.setup.testTime !== undefined) continue
    const of = byTask.get(trial.task.id) ?? new Map<string, SetupTrial>()
    byTask.set(trial.task.id, of)
    const { nodes } = trial.episode
    const said = JSON.stringify(
      nodes.flatMap(({ role, text, calls }) => (role === 'assistant' ? [text, calls] : [])),
    )
    if (of.size < mostOfTask && !of.has(said)) of.set(said, trial)
  }
  const lists = [...byTask.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, of]) => [...of.values()])
  return Array.from({ length: mostOfTask }, (_, at) => lists.flatMap((of) => of.slice(at, at + 1))).flat()
}
