import { average } from '../../../statistics/statistics.ts'
import { plainSetup, setupId } from '../../setup/setup.ts'
import { passes } from '../fine-tune-on-trials.ts'
import type { Lever, LeverContext, SetupTrial } from '../lever.ts'
import type { ModelTraining } from '../model-training.ts'
import { lacksTokens, tokensIn, withTrained } from './trained-setup.ts'

/** Episodes of a task at most, so that easy tasks do not outweigh the others. */
const mostOfTask = 2
/** Fewer solved tasks teach nothing that holds for others. */
const leastTasks = 4
const rounds = 3

/**
 * Trains the local model on the successes of the search: those of all setups on training tasks, without what the setups added to the prompt. Tasks that
 * none has solved are first tried with the setups that solve most, as far as the budget of a training allows. If the trained model gains, it tries the
 * training tasks itself, and the model is trained from the start again with what it solved besides; if not, when other levers have solved more.
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
    if (!hasGained(context) && context.candidates.some(({ from }) => from === learnedFrom(context)))
      return 'no training task was solved besides those that it has learned from'
    return lacksTokens(passes * leastTasks * average(solved.map(tokensIn)), training)
  },
  upfront(context) {
    const { training, train } = context
    if (typeof training === 'string') return { tokens: 0, dollars: 0 }
    const ofEpisode = average(successes(context).map(tokensIn))
    const tokens = Math.min(training.share(), train.length * ofEpisode * (costOfEpisode + sources))
    return { tokens, dollars: 0 }
  },
  // What any setup has solved may be learned; what the best one solves is there already.
  expects(context) {
    const { bestFound, train, trials } = context
    const own = new Set(
      trials(bestFound).flatMap(({ task, record }) => (record.success === true ? [task.id] : [])),
    )
    return Math.max(0, solvedTasks(context) - own.size) / train.length
  },
  async propose(context) {
    const { training, round, best, train, candidates } = context
    if (typeof training === 'string' || round >= rounds) return []
    if (round === 0) await collect(context, training)
    // A model that gained finds more.
    else if (hasGained(context)) await context.tryOut(best, train)
    const from = learnedFrom(context)
    if (candidates.some((one) => one.from === from)) return []
    const trials = fitting(successes(context), training.share())
    const tokens = needed(trials)
    if (trials.length === 0 || tokens > training.share()) return []
    const name = `sft-${round}`
    const trained = await training.train({ name, tokens, method: { name: 'sft', trials } })
    return trained === undefined ? [] : [{ ...withTrained(plainSetup, name, trained), from }]
  },
}

/** Whether its last model is its best setup. */
const hasGained = ({ best, candidates }: LeverContext): boolean =>
  best.model !== undefined && candidates.some(({ setup }) => setup.model === best.model)

/** What a training begins with. More of it may bring another result. */
const learnedFrom = (context: LeverContext): string => `${solvedTasks(context)} solved tasks`

/** Setups whose successes are collected. */
const sources = 3

/** Tries the setups that solve most of what they were tried on with the training tasks that none has solved. */
async function collect(context: LeverContext, { share }: ModelTraining): Promise<void> {
  const { train, trials, tryOut } = context
  const bySetup = new Map<string, SetupTrial[]>()
  for (const trial of trials())
    if (trial.setup.testTime === undefined) {
      const id = setupId(trial.setup)
      bySetup.set(id, [...(bySetup.get(id) ?? []), trial])
    }
  const rate = (of: readonly SetupTrial[]): number =>
    average(of.map(({ record }) => Number(record.success === true)))
  const best = [...bySetup.values()].filter((of) => rate(of) > 0).sort((a, b) => rate(b) - rate(a))
  for (const of of best.slice(0, sources)) {
    const solved = new Set(successes(context).map(({ task }) => task.id))
    const left = train.filter(({ id }) => !solved.has(id))
    // What the test needs is not spent on this.
    if (left.length * average(of.map(tokensIn)) <= share()) await tryOut(of[0].setup, left)
  }
}

/** Of training, in tokens of an episode. Templates of models differ in length, therefore half as much again. */
const costOfEpisode = 1.5 * passes

/** What training on these takes at most. */
const needed = (trials: readonly SetupTrial[]): number =>
  Math.ceil(costOfEpisode * trials.reduce((sum, trial) => sum + tokensIn(trial), 0))

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
