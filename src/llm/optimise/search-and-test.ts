import { join, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { toolSignature } from '../agent/chat-format/tool-signatures.ts'
import { createRandom } from '../../engine/random/random.ts'
import { average } from '../../statistics/statistics.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import type { Spending } from '../project/budget.ts'
import type { AgogeConfig } from '../project/config.ts'
import { type EvaluationResult, summarise } from '../project/evaluation.ts'
import type { Store } from '../project/evaluation-store.ts'
import type { Journal } from '../project/journal.ts'
import type { OpenedModel } from '../project/models.ts'
import type { TrialSettings } from '../project/run-trial.ts'
import type { TaskSplit } from '../project/training/split-tasks.ts'
import { type AgentSetup, plainSetup } from '../setup/setup.ts'
import type { ToolSpec } from '../tool/tool.ts'
import type { Candidate, Lever, SetupTrial } from './lever.ts'
import { createModelTraining, type ModelTraining, trainableIn } from './model-training.ts'
import { askProposer, type OpenedProposer } from './open-proposer.ts'
import type { LeverOutcome, OptimiseEvent, OptimiseOptions, OptimiseResult } from './optimise.ts'
import { type AgentKnowledge, type Arm, contextOf, newArm, search, type SearchResult } from './search.ts'
import { BudgetEnded, createSetupTrials, type SetupTrials, type WantedTrial } from './setup-trials.ts'

/** What a search works with. */
export interface Searching {
  config: AgogeConfig
  options: OptimiseOptions
  emit: (event: OptimiseEvent) => void
  store: Store
  models: readonly OpenedModel[]
  settings: TrialSettings
  split: TaskSplit
  levers: readonly Lever[]
  proposer: OpenedProposer | undefined
}

/** A search in its course. */
interface Session extends Searching {
  trials: number
  made: SetupTrials
  /** What proposals have cost. */
  proposing: Spending
  /** What trainings have used. */
  trained: Spending
  /** The models that setups may name; trained ones are added. */
  known: OpenedModel[]
  /** In the unit of the budget: dollars if it is in dollars, otherwise tokens. */
  unit: (spending: Spending) => number
  /** By the search's own count, which is the same in a process that continues it. */
  spent: () => number
  /** The tools of the agent's first call. */
  offered: { tools?: readonly ToolSpec[] }
}

/** Tries the original, searches, and tries the original and the best setup on the test tasks. */
export async function searchAndTest(searching: Searching): Promise<OptimiseResult> {
  const session = openSession(searching)
  const { emit, split, settings } = session
  const outcomes: LeverOutcome[] = []
  const candidates: Candidate[] = []
  let [before, found, test]: [number, SearchResult | undefined, EvaluationResult | null] = [
    0,
    undefined,
    null,
  ]
  try {
    const original = await tryOriginal(session)
    before = successOn(original.slice(split.train.length))
    const knowledge = knowledgeOf(session, original)
    const usable = usableLevers(session, knowledge, outcomes)
    if (before < 1 && usable.length > 0)
      found = await searchWith(session, {
        usable,
        before,
        knowledge,
        candidates,
        costOfTrial: session.spent() / original.length,
      })
    outcomes.push(...(found?.arms ?? []).map(outcomeOf))
    if (found !== undefined && found.best !== null) test = await testBoth(session, found.best.setup)
  } catch (error) {
    if (!(error instanceof BudgetEnded)) throw error
    emit({ type: 'budget-reached', spent: settings.budget.spent() })
  } finally {
    for (const { dispose } of session.known.slice(settings.models.length)) await dispose()
  }
  return {
    schema: 1,
    isShown: (test?.comparisons[0]?.low ?? -1) > 0,
    best: found?.best ?? null,
    test,
    before,
    levers: outcomes,
    candidates,
    stopped: stoppedBecause(before, outcomes, found),
    spent: settings.budget.spent(),
    unit: session.config.budget?.dollars === undefined ? 'tokens' : 'dollars',
    tasks: { train: split.train.length, selection: split.validation.length, test: split.test.length },
  }
}

function stoppedBecause(
  before: number,
  outcomes: readonly LeverOutcome[],
  found: SearchResult | undefined,
): string {
  if (found !== undefined) return found.stopped
  if (before >= 1) return 'the agent solves every selection task as it is'
  return outcomes.length > 0 ? 'no lever can be used here' : 'the budget was reached'
}

function openSession(searching: Searching): Session {
  const { config, options, emit, store, models, settings } = searching
  const offered: Session['offered'] = {}
  const proposing: Spending = { tokens: 0, dollars: 0 }
  const unit = ({ tokens, dollars }: Spending): number =>
    config.budget?.dollars === undefined ? tokens : dollars
  const trained: Spending = { tokens: 0, dollars: 0 }
  const known = [...settings.models]
  const made = createSetupTrials({
    settings: {
      ...settings,
      models: known,
      onOffered(tools) {
        offered.tools ??= tools
      },
    },
    store,
    episodesFile: options.out === undefined ? undefined : join(options.out, 'episodes.jsonl'),
    model: models[0],
    concurrency: config.concurrency,
    onTrial: (_, done, total) => emit({ type: 'trial', done, total, spent: settings.budget.spent() }),
  })
  const spent = (): number => unit(made.cost()) + unit(proposing) + unit(trained)
  return { ...searching, trials: config.trials ?? 1, made, proposing, trained, known, unit, spent, offered }
}

const repeated = (tasks: readonly FileTask[], setup: AgentSetup, trials: number): WantedTrial[] =>
  tasks.flatMap((task) => Array.from({ length: trials }, (_, trial) => ({ setup, task, trial })))

async function tryOriginal({ emit, made, split, trials }: Session): Promise<readonly SetupTrial[]> {
  emit({ type: 'phase', phase: 'original', about: 'the agent as it is' })
  return made.run([
    ...repeated(split.train, plainSetup, 1),
    ...repeated(split.validation, plainSetup, trials),
  ])
}

function successOn(all: readonly SetupTrial[]): number {
  const judged = all.filter(({ record }) => record.success !== null)
  return judged.length === 0 ? 0 : average(judged.map(({ record }) => Number(record.success)))
}

/** What levers know. The tools of the first call are kept, since a process that continues makes no such call. */
function knowledgeOf(session: Session, original: readonly SetupTrial[]): (arm: Arm) => AgentKnowledge {
  const { config, models, store, offered, proposer, options, settings, proposing } = session
  const tools = keptTools(store.journal, offered.tools ?? [])
  const training = trainingOf(session, original)
  const system = original.flatMap(({ episode }) => episode.nodes).find(({ role }) => role === 'system')
  return (arm) => ({
    tools,
    systemText: system?.text ?? '',
    models: models.map(({ name }) => name),
    training,
    canVerify: config.verify !== undefined,
    hasProposer: proposer !== undefined,
    async propose(request) {
      const tried = arm.candidates.map(({ about, gain, screened }) => ({
        text: about,
        gain: gain ?? screened ?? 0,
      }))
      const { seed = 0 } = options
      const asked = {
        ...request,
        tried,
        tools: tools.map((tool) => toolSignature(tool)),
        seed: createRandom('propose', seed, arm.lever.name, arm.round).int(2 ** 31),
      }
      const id = `propose/${arm.lever.name}/${arm.round}`
      const { texts, cost } = await askProposer(proposer, asked, { settings, id })
      proposing.tokens += cost.tokens
      proposing.dollars += cost.dollars
      return texts
    },
  })
}

/** The training of a model, which may take half of the tokens that neither the test nor the selection of its model needs. */
function trainingOf(session: Session, original: readonly SetupTrial[]): ModelTraining | string {
  const { config, options, settings, split, trials, made, proposing, trained, known } = session
  const { out, folder = '.', seed = 0 } = options
  const trainable = trainableIn(config, out)
  if ('reason' in trainable || out === undefined)
    return 'reason' in trainable ? trainable.reason : 'no folder'
  const { tokens = Infinity } = config.budget ?? {}
  const ofTrial = average(original.map(({ record }) => record.cost.tokens))
  const ahead = ofTrial * trials * (2.5 * split.test.length + 2 * split.validation.length)
  return createModelTraining(trainable.model, {
    config,
    root: resolve(folder),
    out,
    settings: { ...settings, models: known },
    split,
    share: () => (tokens - ahead - made.cost().tokens - proposing.tokens - trained.tokens) / 2,
    onTokens: (used) => void (trained.tokens += used),
    onModel: (model) => void known.push(model),
    seed,
    ...defined({ learningRate: options.learningRate }),
  })
}

function keptTools(journal: Journal, seen: readonly ToolSpec[]): readonly ToolSpec[] {
  const kept = journal.tool('agent', 'tools')
  if (kept !== undefined && kept !== 'started' && 'result' in kept) return kept.result as ToolSpec[]
  journal.write({ type: 'tool', trial: 'agent', key: 'tools', result: seen })
  return seen
}

function usableLevers(
  session: Session,
  knownTo: (arm: Arm) => AgentKnowledge,
  outcomes: LeverOutcome[],
): readonly Lever[] {
  const { levers, emit, made, split, options } = session
  return levers.filter((lever) => {
    const context = { made, train: split.train, original: plainSetup, seed: options.seed ?? 0, knownTo }
    const reason = lever.unusable(contextOf(newArm(lever, plainSetup), plainSetup, context))
    if (reason === undefined) return true
    const { name, source } = lever
    const outcome = { name, source, tried: 0, gain: 0, spent: 0, note: `not used: ${reason}` }
    outcomes.push(outcome)
    emit({ type: 'lever', outcome })
    return false
  })
}

interface Started {
  usable: readonly Lever[]
  before: number
  knowledge: (arm: Arm) => AgentKnowledge
  candidates: Candidate[]
  costOfTrial: number
}

function searchWith(
  session: Session,
  { usable, before, knowledge, candidates, costOfTrial }: Started,
): Promise<SearchResult> {
  const { emit, options, split, trials, made, spent } = session
  emit({ type: 'phase', phase: 'search', about: usable.map(({ name }) => name).join(', ') })
  return search({
    levers: usable,
    picker: options.picker ?? 'adaptive',
    original: plainSetup,
    train: split.train,
    selection: split.validation,
    before,
    trials,
    made,
    allowanceFor: allowanceOf(session, costOfTrial),
    unit: session.unit,
    spent,
    costOfTrial,
    knownTo: knowledge,
    onCandidate(candidate) {
      candidates.push(candidate)
      emit({ type: 'candidate', candidate })
    },
    onArm: (arm) => emit({ type: 'lever', outcome: outcomeOf(arm) }),
    seed: options.seed ?? 0,
  })
}

/**
 * What the search may spend: the budget less what the test needs. A call reserves more than it needs, so that much stays unused at the end.
 *
 * @throws AgogeError `bad-config` if the rest does not suffice for one proposal.
 */
function allowanceOf(session: Session, costOfTrial: number): (costOfTested: number) => number {
  const { config, split, trials, settings, models, unit, spent } = session
  const total = config.budget?.dollars ?? config.budget?.tokens ?? Infinity
  const most = { input: 2000, output: settings.limits.maxOutputTokens }
  const callReserve = Math.max(
    ...models.map(({ price = { input: 0, output: 0 } }) =>
      unit({
        tokens: most.input + most.output,
        dollars: (most.input * price.input + most.output * price.output) / 1e6,
      }),
    ),
  )
  // Test tasks may be a little longer than the others.
  const testOf = (costOfTested: number): number =>
    1.1 * (costOfTrial + costOfTested) * split.test.length * trials
  const test = testOf(2 * costOfTrial)
  const least = spent() + costOfTrial * (24 + 2 * split.validation.length * trials)
  if (total - test - callReserve >= least) return (costOfTested) => total - testOf(costOfTested) - callReserve
  const needed = least + test + callReserve
  throw new AgogeError('the budget does not suffice for a search', {
    code: 'bad-config',
    given: `${amount(total, config)}, of which the test needs ${amount(test, config)}`,
    expected: `at least ${amount(needed, config)}, and several times that for a search that tries much`,
    hint: 'Raise the budget, or give fewer tasks or trials; a lower maxOutputTokens makes reservations smaller',
  })
}

const amount = (value: number, { budget }: AgogeConfig): string =>
  budget?.dollars === undefined ? `${Math.ceil(value)} tokens` : `$${value.toPrecision(2)}`

function outcomeOf({ lever, candidates, gain, spent, ended }: Arm): LeverOutcome {
  const { name, source } = lever
  return { name, source, tried: candidates.length, gain, spent, ...(ended !== undefined && { note: ended }) }
}

/** Both on all test tasks, which nothing has seen before. */
async function testBoth(session: Session, setup: AgentSetup): Promise<EvaluationResult> {
  const { emit, made, split, trials, settings } = session
  emit({
    type: 'phase',
    phase: 'test',
    about: 'the original and the best setup, on tasks that neither has seen',
  })
  const wanted = repeated(split.test, plainSetup, trials)
  // Task by task, so that a budget that ends early leaves pairs.
  const all = await made.run(wanted.flatMap((one) => [one, { ...one, setup }]))
  const records = all.map(({ record }, at) => ({ ...record, model: at % 2 === 0 ? 'original' : 'optimised' }))
  const [model] = session.models
  const hasPrice = model.price !== undefined
  return summarise(records, {
    models: [
      { name: 'original', hasPrice },
      { name: 'optimised', hasPrice },
    ],
    tasks: split.test.length,
    trials,
    spent: settings.budget.spent(),
  })
}
