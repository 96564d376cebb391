import { findPolicyPreset } from '../../src/llm/algorithm/policy-optimisation/presets.ts'
import { average } from '../../src/statistics/statistics.ts'
import type { Estimate } from '../../src/statistics/statistics.ts'
import type { Result, Success } from './play.ts'
import { difficulty } from './task.ts'
import { plan, seeds, testTasks, variants } from './variants.ts'

/** `ablation.json`. */
export interface Ablation {
  /** The warm start, before RL. */
  before: Success
  results: Result[]
}

/** 97.5% quantiles of Student's t with 1 to 9 degrees of freedom. */
const quantiles = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]

/** The mean over seeds with Student's 95% interval. */
function overSeeds(values: readonly number[]): Estimate {
  const n = values.length
  const centre = average(values)
  const variance = values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / Math.max(1, n - 1)
  const half = n < 2 ? Number.NaN : quantiles[n - 2] * Math.sqrt(variance / n)
  return { mean: centre, low: centre - half, high: centre + half, n }
}

const points = (share: number): string => (100 * share).toFixed(1)
const interval = ({ mean, low, high }: Estimate): string =>
  `${points(mean)} (${points(low)} to ${points(high)})`
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

/** The page of the results in Markdown, for the seeds with which every variant has been trained. */
export function ablationPage({ before, results }: Ablation): string {
  const names = Object.keys(variants)
  const [standard] = names
  const complete = seeds.filter((seed) =>
    names.every((name) => results.some((result) => result.variant === name && result.seed === seed)),
  )
  const of = (variant: string): Result[] =>
    complete.flatMap((seed) => results.filter((r) => r.variant === variant && r.seed === seed))
  const pairs = (variant: string): Estimate =>
    overSeeds(
      of(variant).flatMap((result) =>
        of(standard).flatMap((other) => (other.seed === result.seed ? [result.sampled - other.sampled] : [])),
      ),
    )
  const averageOf = (variant: string, key: 'entropy' | 'clipFraction' | 'responseTokens'): string =>
    average(of(variant).map((result) => result[key])).toFixed(key === 'responseTokens' ? 1 : 3)
  const reached = (variant: string): string => {
    const curves = of(variant).map(({ curve }) => curve)
    return [20, 40, plan.reinforcement.steps]
      .map((step) =>
        points(average(curves.map((curve) => average(curve.slice(Math.max(0, step - 10), step))))),
      )
      .join(', ')
  }
  const sorted = names.toSorted(
    (a, b) => average(of(b).map((r) => r.sampled)) - average(of(a).map((r) => r.sampled)),
  )
  const { reinforcement, warmStart, demonstrations } = plan
  const shown = Object.values(demonstrations).reduce((sum, count) => sum + count, 0)
  return `# Ablation of losses and advantages

\`npm run ablation\`: the same task, warm start, episodes, updates and learning rate for every variant, ${complete.length} seeds each.

- **Task**: countdown with ${difficulty.numbers} numbers up to ${difficulty.largest} and targets up to ${difficulty.target}, in one wording ("4, 12: 48" is answered by "12 * 4");
  held-out instances by their hash.
- **Model**: a transformer of 0.1M parameters from scratch, warm-started on ${shown} demonstrations (${warmStart.epochs} epochs), the same for
  all. It then solves ${points(before.greedy)}% of ${testTasks} held-out tasks by its likeliest answer and ${points(before.sampled)}% by one drawn at temperature 1.
- **Budget**: ${reinforcement.steps} steps of ${reinforcement.groups} tasks with ${reinforcement.groupSize} episodes, ${reinforcement.minibatches} updates a step, AdamW at ${reinforcement.learningRate} falling to a tenth.
- **Variants**: the presets of \`agoge train --algorithm\`, each with its own clip, aggregation and divergence; what a preset says of how
  batches are sampled is left out, so that all play the same number of episodes.

Held-out success in per cent, with Student's 95% interval over seeds; the difference from \`${standard}\` is paired by seed, and of
success at temperature 1.

${row(['variant', 'temperature 1', 'likeliest answer', `less ${standard}`, 'while sampling, steps 20, 40, last', 'entropy', 'clipped', 'tokens'])}
${row(Array<string>(8).fill('---'))}
${sorted
  .map((name) =>
    row([
      `\`${name}\``,
      interval(overSeeds(of(name).map((r) => r.sampled))),
      interval(overSeeds(of(name).map((r) => r.greedy))),
      name === standard ? '' : interval(pairs(name)),
      reached(name),
      averageOf(name, 'entropy'),
      averageOf(name, 'clipFraction'),
      averageOf(name, 'responseTokens'),
    ]),
  )
  .join('\n')}

Entropy (nats per token), the share of clipped tokens and the tokens of an answer are means over the last ten steps.

${names.map((name) => `- \`${name}\`: ${findPolicyPreset(name).about} (arXiv ${findPolicyPreset(name).source ?? 'none'})`).join('\n')}

One task, one small model, one learning rate: an order of the variants elsewhere does not follow. Every number is in
[ablation.json](ablation.json).
`
}
