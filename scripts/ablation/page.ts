import { average, intervalText, meanInterval } from 'agoge/statistics'
import { comparisons, seedsOf, type Comparison } from './evidence.ts'
import { plan, tasks } from './plan.ts'
import { bestOf, extension, tuned, type Ablation, type AblationRow } from './runs.ts'

/** The page: the plan, and, once all runs are made, what they show. */
export function ablationPage(ablation: Ablation, complete: boolean): string {
  const rows = complete ? resultPart(ablation) : ['', '## Results', '', 'The runs are not complete.']
  return `${[...planPart(), ...rows].join('\n')}\n`
}

function planPart(): string[] {
  const { steps, batch, groupSize, epochs, minibatches } = plan
  return [
    '# Ablation of algorithms, each tuned alike',
    '',
    'Made by `npm run ablation`; the rows are in `ablation.json`.',
    '',
    '## The plan',
    '',
    'Written before any row was measured. A [tiny transformer](../../research/testbeds/tiny-transformer/README.md) of about 20 thousand',
    'weights; by seed, all runs share questions and a supervised start. Scores are exact pass@1 on test questions.',
    '',
    ...Object.entries(tasks).map(([name, { about, why }]) => `- \`${name}\`: ${about}. Why: ${why}.`),
    '',
    `- **Presets**: ${plan.presets.map((name) => `\`${name}\``).join(', ')}. Left out for their cost: \`opo\`, \`pass-at-k\`,`,
    '  `reinforce++`, `reinforce++-baseline`, `dppo`, `topr`; `remax` needs greedy answers, which the testbed does not sample.',
    `- **Equal budgets**: ${steps} batches of ${batch} groups of ${groupSize} sampled answers, ${epochs} passes of ${minibatches} updates a batch. So what presets`,
    '  say of batches is left out: the resampling of `dapo`, the single update of `rloo` and `maxrl`. Tokens are reported.',
    `- **Tuning**: rates ${plan.rates.map(format).join(', ')} for every preset and task, seeds ${plan.tuningSeeds.join(', ')}; where the best is at`,
    `  an edge, the next rate (a factor of about 3) is added, at most ${plan.extensions} times. The highest mean gain wins.`,
    `- **Reported runs**: seeds from ${plan.firstSeed}. Their number follows from the paired deviation of the tuning runs, for an effect of`,
    `  ${plan.effect} points with 80% power after correction, at least ${plan.fewestSeeds} and at most ${plan.mostSeeds}.`,
    `- **Comparisons**: each preset less \`${plan.baseline}\`, paired by seed, on each task: one family of ${3 * (plan.presets.length - 1)}, Holm at 5%. p-values`,
    '  are the largest of Student, Hall and, up to 14 seeds, all changes of sign. Intervals hold for all comparisons together.',
    `  *Different*: Holm's p below 5%; it counts where the difference is at least ${plan.effect} points. *Equal*: shown within ${plan.effect} points by two`,
    '  one-sided tests, Holm at 5%. Otherwise the runs do not decide.',
  ]
}

function resultPart(ablation: Ablation): string[] {
  const all = comparisons(ablation.results, Object.keys(tasks))
  const different = all.filter((each) => conclusion(each) === 'different')
  const equal = all.filter((each) => conclusion(each) === 'equal')
  return [
    '',
    '## Results',
    '',
    `Of ${all.length} comparisons with \`${plan.baseline}\`, ${different.length} show a difference of at least ${plan.effect} points (${list(different)}),`,
    `${equal.length} show that there is none of ${plan.effect} points (${list(equal)}); the others decide neither. These are statements on three`,
    'tasks, a tiny model, rates tuned for each task, and this budget. They say nothing about large models, long answers, samples of an',
    'older policy, or rates that were not tuned; and where the runs do not decide, no order follows from the means.',
    ...Object.keys(tasks).flatMap((task) => taskPart(ablation, all, task)),
  ]
}

const list = (found: readonly Comparison[]): string =>
  found.length === 0
    ? 'none'
    : found.map(({ task, preset, mean }) => `\`${preset}\` on ${task} ${signed(mean)}`).join(', ')

function taskPart({ tuning, results }: Ablation, all: readonly Comparison[], task: string): string[] {
  const { deviation, needed, seeds } = seedsOf(tuning, task)
  const own = results.filter((row) => row.task === task)
  const lines = plan.presets.map((preset) => {
    const rows = own.filter((row) => row.preset === preset)
    const mean = (of: (row: AblationRow) => number): number => average(rows.map(of))
    const gain = meanInterval(rows.map((row) => row.gain))
    const found = all.find((each) => each.task === task && each.preset === preset)
    return [
      `\`${preset}\``,
      `${gain.mean.toFixed(1)} (${intervalText(gain, (value) => value.toFixed(1))})`,
      found === undefined ? '' : `${signed(found.mean)} (${signed(found.low)} to ${signed(found.high)})`,
      found === undefined ? '' : conclusion(found),
      format(rows[0].rate),
      (100 * mean((row) => row.clipFraction)).toFixed(1),
      (100 * mean((row) => row.zeroVariance)).toFixed(0),
      mean((row) => row.entropy).toFixed(2),
      mean((row) => row.tokens).toFixed(0),
      mean((row) => row.optimiserSteps).toFixed(0),
    ].join(' | ')
  })
  return [
    '',
    `### ${task}`,
    '',
    `${tasks[task].about}. Start: ${(100 * average(own.map(({ start }) => start))).toFixed(1)}%. Paired deviation of the tuning runs: ${deviation.toFixed(1)} points, so ${needed}`,
    `seeds were needed and ${seeds.length} run.`,
    '',
    `| preset | gain, 95% interval | less \`${plan.baseline}\` | | rate | clipped % | zero-variance groups % | entropy | tokens | updates |`,
    '| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...lines.map((line) => `| ${line} |`),
    '',
    `Mean gain by rate, seeds ${plan.tuningSeeds.join(', ')}:`,
    '',
    ...plan.presets.map((preset) => {
      const grid = tuned(tuning, task, preset)
      const best = bestOf(grid)
      const edge = best === grid[0].rate || best === grid[grid.length - 1].rate
      const note = edge && extension(grid) === null ? ' (the best is still at the edge)' : ''
      return `- \`${preset}\`: ${grid.map(({ rate, gain }) => `${format(rate)}: ${gain.toFixed(1)}`).join(', ')}${note}`
    }),
  ]
}

/** What the plan concludes from a comparison. */
export function conclusion({
  mean,
  p,
  equivalenceP,
}: Pick<Comparison, 'mean' | 'p' | 'equivalenceP'>): string {
  if (equivalenceP < 0.05) return 'equal'
  if (p >= 0.05) return ''
  return Math.abs(mean) >= plan.effect ? 'different' : 'different, below the effect'
}

const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(1)}`
const format = (rate: number): string => rate.toExponential()
