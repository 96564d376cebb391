import { defined } from '../../defined.ts'
import { createRandom, hash32 } from '../../engine/random/index.ts'
import type { Task } from '../agent/types.ts'
import type { Episode } from '../episode/types.ts'
import { isDemonstration, playDemonstrations } from '../rollout/collect.ts'
import { faultLines, recordFailures, tooFewDemonstrations } from './dropped-tasks.ts'
import { supervisedPart } from './fine-tune.ts'
import { evaluate, type Job, keptIf } from './job.ts'
import { runPart } from './kernel.ts'
import { restateStages } from './summary.ts'
import type { SupervisedSettings } from './types.ts'

/**
 * Lets the expert play the plan's training tasks in the environment. The same seed gives the same demonstrations. If the
 * environment verifies its tasks, a task that its plan no longer solves is dropped; `state` records which, why, and which tools
 * fail.
 *
 * @throws AgogeError if fewer than a tenth are left, and as `demonstrate` does.
 */
export async function collectDemonstrations<T extends Task>(job: Job<T>): Promise<Episode[]> {
  const { options, state, emit, signal } = job
  const counts = Object.entries(options.plan.demonstrations)
  const tasks = counts.flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, at) =>
      options.tasks.task({
        split: 'train',
        kind,
        seed: hash32(options.seed, 'demonstration', kind, at) >>> 1,
      }),
    ),
  )
  emit({ type: 'phase', name: 'demonstrations', total: tasks.length })
  const { deterministic, provesTasks = false } = options.environment
  const played = await keptIf(job, 'demonstrations.jsonl', deterministic === false || provesTasks, () =>
    playDemonstrations({
      tasks,
      environment: options.environment,
      tokenizer: options.tokenizer,
      ...(options.chat === undefined ? {} : { format: options.chat.format }),
      limits: options.plan.limits,
      ...defined({ signal }),
    }),
  )
  const demonstrations = played.filter(isDemonstration)
  const countOf = (kind: string): number => demonstrations.filter((episode) => episode.kind === kind).length
  state.demonstrations = Object.fromEntries(counts.map(([kind]) => [kind, countOf(kind)]))
  recordFailures(state, played)
  const { unstableTools, dropped } = state
  for (const text of faultLines({ unstableTools, dropped })) emit({ type: 'note', text })
  if (demonstrations.length < tasks.length / 10)
    throw tooFewDemonstrations(demonstrations.length, tasks.length, state)
  restateStages(job)
  return demonstrations
}

/** The budget of a supervised phase: `steps`, or `seconds` of wall-clock. */
type SupervisedBudget = { steps: number } | { seconds: number }

/**
 * Cross-entropy on demonstrations in seeded order, with regular validations by success on validation tasks. Ends with the budget
 * or when the score stops rising. Loads the weights of the best validation.
 *
 * @returns the name of the checkpoint with those weights.
 */
export async function runSupervised<T extends Task>(
  job: Job<T>,
  name: 'warm-start' | 'supervised',
  demonstrations: readonly Episode[],
  settings: Omit<SupervisedSettings, 'epochs'>,
  budget: SupervisedBudget,
): Promise<string> {
  const { state, options } = job
  const { validateEvery, patience } = settings
  const part = supervisedPart({
    name,
    backend: job.backend,
    steps: 'steps' in budget ? budget.steps : null,
    ...('steps' in budget ? {} : { progress: () => Math.min(1, job.phaseSeconds() / budget.seconds) }),
    episodes: demonstrations,
    orderOf: (epoch) => createRandom(options.seed, name, 'epoch', epoch),
    settings,
  })
  let kinds: Record<string, number> = {}
  await runPart(
    {
      ...part,
      validation: {
        measure: 'success',
        // The warm start begins with an untrained policy. The initial weights of the control arm are a candidate for the best.
        isDue: (step, over) => over || (step % validateEvery === 0 && (step > 0 || name === 'supervised')),
        async score() {
          const count = options.plan.tasks.validation
          const { summary } = await evaluate(job, `${name}-validation`, 'validation', count)
          kinds = summary.kinds
          return { score: summary.success.mean, metrics: { masked: summary.masked } }
        },
        keep: 'best',
        onBest: () => (state.prior = kinds),
        // Stop if the score has not risen for a while or cannot rise further.
        isSettled: (best) => best.without >= patience || best.score === 1,
      },
    },
    job,
  )
  const best = state.best?.checkpoint ?? `${name}-best-${state.step}`
  if (state.best === null) await job.saveWeights(best)
  return best
}
