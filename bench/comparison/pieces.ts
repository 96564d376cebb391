import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { baseModelFolder, createLocalActor, isJudged, loadModel, runEpisodes, train } from 'agoge/llm'
import type { Episode, Task } from 'agoge/llm'
import { arms, type ArmName, type Mixture } from './arms.ts'
import type { OpenedSetting, Setting } from './settings.ts'
import { type Cost, nameOf, readPieces, storePiece } from './store.ts'
import type { TestResults, WarmPiece, WarmTuning } from './store.ts'

export interface PieceContext {
  setting: Setting
  opened: OpenedSetting
  seed: number
  /** Where run folders are. A warm start stays there for its arms. */
  runs: string
  signal: AbortSignal
}

const unitsOf = (tasks: readonly Task[]): string[] =>
  tasks.map(({ kind, template }) => `${kind}#${template === undefined ? '' : hashOf(template)}`)

/** FNV-1a: enough to tell the templates of a page apart. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(36)
}

/** Plays test tasks greedily with the weights of a folder. */
async function testOn({ opened, signal }: PieceContext, folder: string): Promise<TestResults> {
  const { environment, tests, plan } = opened
  const { backend, tokenizer } = await loadModel(folder)
  const { limits, maxTokensPerTurn } = plan
  const actor = createLocalActor({
    backend,
    tokenizer,
    sampling: { temperature: 0 },
    seed: 0,
    maxTokensPerTurn,
  })
  const play = async (name: string, tasks: readonly Task[]): Promise<string> => {
    const played: Episode[] = []
    for (let start = 0; start < tasks.length; start += 128) {
      const specs = tasks
        .slice(start, start + 128)
        .map((task) => ({ id: `${name}/${task.id}`, group: task.id, task }))
      played.push(...(await runEpisodes(specs, actor, environment, limits, { signal })))
      signal.throwIfAborted()
    }
    return played.map((episode) => (isJudged(episode) ? Number(episode.success) : '-')).join('')
  }
  try {
    return {
      known: await play('known', tests.known),
      paraphrased: await play('paraphrased', tests.paraphrased),
      heldOutKinds: await play('held-out-kinds', tests.heldOutKinds),
    }
  } finally {
    await backend.dispose()
  }
}

interface Trained {
  folder: string
  model: string
  cost: Cost
  validations: { computedTokens: number; success: number }[]
  steps: number
  demonstrations: Record<string, number>
}

/** Trains in a run folder, or resumes the run that is in it. */
async function trainIn(
  name: string,
  { opened, seed, runs, signal }: PieceContext,
  options: TrainSettings,
): Promise<Trained> {
  const folder = join(runs, name)
  const resume = existsSync(join(folder, 'config.json'))
  const before = process.cpuUsage()
  const { plan, ...rest } = options
  const validation = opened.training.heldOut?.('validation', Infinity).length ?? 0
  const summary = await train({
    ...rest,
    environment: opened.environment,
    tasks: opened.training,
    seed,
    out: folder,
    resume,
    command: 'npm run comparison',
    plan: {
      ...opened.plan,
      ...plan,
      tasks: { validation, test: 0, unseenParaphrases: 0 },
    },
    signal,
  })
  const cpu = process.cpuUsage(before)
  const records = readFileSync(join(folder, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { phase: string; metrics: Record<string, number> })
  const isValidation = ({ phase }: { phase: string }): boolean => phase.endsWith('-validation')
  return {
    folder,
    model: summary.model,
    demonstrations: summary.demonstrations,
    steps: records.filter((record) => !isValidation(record)).length,
    // The one before RL without a supervised phase is for its sampler, not for the checkpoint.
    validations: records
      .filter((record) => isValidation(record) && 'computedTokens' in record.metrics)
      .map(({ metrics }) => ({
        computedTokens: metrics['computedTokens'],
        success: metrics['success'],
      })),
    cost: {
      computedTokens: summary.cost.computedTokens ?? 0,
      calls: summary.cost.calls,
      minutes: summary.cost.seconds / 60,
      cpuMinutes: resume ? null : (cpu.user + cpu.system) / 6e7,
    },
  }
}

type TrainSettings = ReturnType<(typeof arms)[ArmName]['plan']> & { model?: string }

/** Demonstrations per kind, at a rate at which the usual warm start is made. */
function warmSettings({ opened }: PieceContext, shown: number): TrainSettings {
  const { plan } = arms.rl.plan({
    setting: { budget: 1, validations: 2 } as Setting,
    learningRate: 1e-4,
    firstRate: undefined,
    mixture: 'common',
    kinds: [],
    shown,
    success: {},
  })
  const { budget: _, ...reinforcement } = plan.reinforcement
  return {
    model: baseModelFolder,
    demonstrations: Object.fromEntries(opened.training.kinds.map((kind) => [kind, shown])),
    plan: { ...plan, reinforcement: { ...reinforcement, steps: 0, validateEvery: 0 } },
  }
}

/** The warm start of a seed: its weights, and its piece, which is stored if it was not. */
export async function warmStart(
  context: PieceContext,
  shown: number,
): Promise<{ model: string; success: Record<string, number> }> {
  const { setting, opened, seed } = context
  const name = `${setting.name}-${seed}-warm-start-${shown}`
  const isTuning = setting.tuningSeeds.includes(seed)
  const stored = storedWarmStart(setting.name, seed, isTuning ? shown : undefined)
  const made = join(context.runs, name, 'checkpoints', 'final')
  // A run has its summary last.
  if (stored !== undefined && existsSync(join(context.runs, name, 'summary.json')) && existsSync(made))
    return { model: made, success: stored.kinds }
  const trained = await trainIn(name, context, warmSettings(context, shown))
  const success = await validationByKind(context, trained.model)
  const piece: Omit<WarmPiece, 'piece' | 'units' | 'results'> = {
    setting: setting.name,
    seed,
    shown,
    validation: average(Object.values(success)),
    kinds: success,
    cost: trained.cost,
  }
  if (stored === undefined && isTuning) storePiece({ ...piece, piece: 'warm-tuning' })
  else if (stored === undefined) {
    const { known, paraphrased, heldOutKinds } = opened.tests
    storePiece({
      ...piece,
      piece: 'warm-start',
      units: {
        known: unitsOf(known),
        paraphrased: unitsOf(paraphrased),
        heldOutKinds: unitsOf(heldOutKinds),
      },
      results: await testOn(context, trained.model),
    })
  }
  return { model: trained.model, success }
}

/** The piece of a warm start; that of a tuning seed is known by its size. */
function storedWarmStart(
  setting: WarmPiece['setting'],
  seed: number,
  shown: number | undefined,
): WarmPiece | WarmTuning | undefined {
  return readPieces().find(
    (piece): piece is WarmPiece | WarmTuning =>
      piece.setting === setting &&
      piece.seed === seed &&
      (shown === undefined
        ? piece.piece === 'warm-start'
        : piece.piece === 'warm-tuning' && piece.shown === shown),
  )
}

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

async function validationByKind(context: PieceContext, model: string): Promise<Record<string, number>> {
  const tasks = context.opened.training.heldOut?.('validation', Infinity) ?? []
  const { known } = await testOn(
    { ...context, opened: { ...context.opened, tests: { known: tasks, paraphrased: [], heldOutKinds: [] } } },
    model,
  )
  const kinds = [...new Set(tasks.map(({ kind }) => kind))]
  return Object.fromEntries(
    kinds.map((kind) => [
      kind,
      average(
        tasks.flatMap((task, at) => (task.kind === kind && known[at] !== '-' ? [Number(known[at])] : [])),
      ),
    ]),
  )
}

/** Trains one arm from the warm start of its seed, tests it unless the seed is for tuning, and stores the piece. */
export async function runArm(
  context: PieceContext,
  {
    arm,
    mixture,
    shown,
    learningRate,
    firstRate,
  }: { arm: ArmName; mixture: Mixture; shown: number; learningRate: number; firstRate: number | undefined },
): Promise<void> {
  const { setting, opened, seed } = context
  const isTuning = setting.tuningSeeds.includes(seed)
  const warm = await warmStart(context, shown)
  const made = arms[arm].plan({
    setting,
    learningRate,
    firstRate,
    mixture,
    kinds: opened.training.kinds,
    shown,
    success: warm.success,
  })
  const common = { setting: setting.name, seed, arm, learningRate }
  const key = isTuning
    ? ({ ...common, piece: 'tuning' } as const)
    : ({ ...common, piece: 'arm', mixture } as const)
  const trained = await trainIn(nameOf(key), context, { ...made, model: warm.model })
  const { steps, validations, cost } = trained
  if (isTuning) storePiece({ ...common, piece: 'tuning', steps, validations, cost })
  else
    storePiece({
      ...common,
      piece: 'arm',
      mixture,
      steps,
      validations,
      results: await testOn(context, trained.model),
      cost,
    })
  rmSync(trained.folder, { recursive: true, force: true })
}
