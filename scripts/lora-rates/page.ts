import { bestOf, budget, jobs, meanOf, rateOf, seedsOf } from './plan.ts'
import type { JobName, JobResults } from './plan.ts'

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

const titles: Record<JobName, string> = {
  'sft-adamw': 'Supervised fine-tuning with AdamW: nats per token of held-out demonstrations',
  'sft-muon': 'Supervised fine-tuning with Muon: nats per token of held-out demonstrations',
  grpo: 'GRPO with AdamW: held-out success in per cent at temperature 1',
}

function jobTable(name: JobName, results: JobResults): string {
  const { before } = results
  const seeds = seedsOf(name, results.rows)
  const rows = results.rows.filter(({ seed }) => seeds.includes(seed))
  const shown = (score: number): string => (jobs[name].lower ? score.toFixed(3) : (100 * score).toFixed(1))
  const arms = Object.keys(budget.arms)
  const exponents = [...new Set(rows.map(({ exponent }) => exponent))].toSorted((a, b) => a - b)
  const best = Object.fromEntries(arms.map((arm) => [arm, bestOf(name, rows, arm)]))
  const cell = (arm: string, exponent: number): string => {
    const of = rows.filter((each) => each.arm === arm && each.exponent === exponent)
    if (of.length === 0) return ''
    const scores = of.flatMap(({ score }) => (score === null ? [] : [score]))
    if (scores.length < of.length) return 'not finite'
    if (scores.length < seeds.length) return ''
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
    const range = `${shown(Math.min(...scores))} to ${shown(Math.max(...scores))}`
    const text = scores.length === 1 ? shown(mean) : `${shown(mean)} (${range})`
    return exponent === best[arm].exponent ? `**${text}**` : text
  }
  const factor = (arm: string): string => {
    const { exponent, inside } = best[arm]
    const unchanged = meanOf(name, rows, arm, best['all'].exponent)
    return row([
      arm,
      rateOf(exponent),
      inside ? 'yes' : 'no',
      rateOf(exponent - best['all'].exponent),
      unchanged === undefined ? 'not run' : shown(unchanged),
      shown(meanOf(name, rows, arm, exponent)!),
    ])
  }
  return `## ${titles[name]}

Before training: ${shown(before)}. ${seeds.length === 1 ? 'One seed.' : `In each cell the mean of ${seeds.length} seeds (lowest to highest).`}

${row(['rate', ...arms])}
${row(Array<string>(arms.length + 1).fill('---'))}
${exponents.map((exponent) => row([rateOf(exponent), ...arms.map((arm) => cell(arm, exponent))])).join('\n')}

${row(['', 'best rate', 'inside the grid', 'factor', 'at the best rate of all weights', 'at its best rate'])}
${row(Array<string>(6).fill('---'))}
${arms.map(factor).join('\n')}
`
}

/** The page of the study in Markdown. */
export function loraRatesPage(results: Record<string, JobResults>): string {
  const { supervised, reinforcement, testTasks } = budget
  return `# The learning rate of LoRA

\`node --import tsx --conditions agoge-source scripts/lora-rates/main.ts ${Object.keys(jobs).join(' ')}\`: the base model of the package (0.94M
parameters), trained with all weights and with LoRA (alpha 32, every matrix of the blocks) at several learning rates.
\`scripts/lora-rates/plan.ts\` has the plan, written before the study ran.

- **Task**: countdown with two numbers in one prompt template: "4, 12: 48" is answered by "12 * 4".
- **Supervised**: ${supervised.demonstrations} demonstrations, ${supervised.steps} steps of ${supervised.batch}, ${supervised.warmup} steps of warm-up, then linear decay to 0.
- **GRPO**: ${reinforcement.steps} steps of ${reinforcement.groups} tasks with ${reinforcement.groupSize} episodes, rate falling to a tenth, from one warm start with all weights; ${testTasks} test tasks.
- **Factor**: the best rate over the best rate of all weights. The grid has half decades, which is the resolution of the factor.

${Object.keys(jobs)
  .map((name) => jobTable(name as JobName, results[name]))
  .join('\n')}
## What it supports

With AdamW, LoRA's best rate is half a decade above that of all weights, at both ranks, in both jobs, and at the rate of all weights LoRA is worse in
every seed. So plans for LoRA have three times the rate of AdamW. With Muon, one seed found no factor that both ranks have in common; its
rates stay as they are.

One small model, one task, short trainings: factors of larger models or longer trainings may differ. Every number is in
\`docs/results/lora-rates/\`.
`
}
