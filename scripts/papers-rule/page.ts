import { wilsonInterval } from 'agoge/statistics'
import type { CellResult } from './simulate.ts'

export interface RuleData {
  simulations: number
  cells: CellResult[]
}

/** A share in per cent with Wilson's 95% interval: `1.3 (0.9 to 1.8)`. */
function percent(share: number, simulations: number): string {
  const { low, high } = wilsonInterval(Math.round(share * simulations), simulations)
  const show = (value: number): string => (100 * value).toFixed(1)
  return `${show(share)} (${show(low)} to ${show(high)})`
}

/** The largest or smallest share over cells, and where it is. */
export function worst(cells: readonly CellResult[], of: (cell: CellResult) => number): CellResult {
  return cells.reduce((most, cell) => (of(cell) > of(most) ? cell : most))
}

const place = ({ shape, rivals, deviation }: CellResult): string =>
  `${shape}, ${rivals} rival${rivals === 1 ? '' : 's'}${shape.startsWith('tied') ? '' : `, deviation ${deviation}`}`

/** docs/results/papers-rule.md. */
export function rulePage({ simulations, cells }: RuleData): string {
  const having = (truth: CellResult['truth']): CellResult[] => cells.filter((cell) => cell.truth === truth)
  const [none, equal, declared] = [having('none'), having('equal'), having('declared')]
  const falsely = worst([...none, ...equal], ({ verdicts }) => verdicts.reproduced)
  const contradicted = worst(cells, ({ verdicts }) => verdicts.contradicted)
  const weakest = worst(declared, ({ verdicts }) => -verdicts.reproduced)
  const equivalent = worst(declared, ({ verdicts }) => verdicts.equivalent)
  const rows = declared.map((cell) => {
    const same = (other: CellResult): boolean =>
      other.shape === cell.shape && other.rivals === cell.rivals && other.deviation === cell.deviation
    const [of, equals] = [none.find(same), equal.find(same)]
    if (of === undefined || equals === undefined) return ''
    const show = (share: number): string => percent(share, simulations)
    return `| ${place(cell)} | ${cell.seeds.toFixed(0)} | ${show(of.verdicts.reproduced)} | ${show(of.verdicts.contradicted)} | ${show(equals.verdicts.equivalent)} | ${show(cell.verdicts.reproduced)} | ${show(cell.verdicts.equivalent)} |`
  })
  return `# How often the rule of the papers is wrong

\`npm run papers:simulate\`: ${simulations} simulated papers per cell go through a pilot, the plan of its deviations, a run of so many seeds, and the
verdict ([the rule](../../research/papers/README.md#the-verdict)). Shares are in per cent, with their 95% interval. Every number is in
[papers-rule.json](papers-rule.json).

- False _reproduced_, where one rival is as good: at most ${percent(falsely.verdicts.reproduced, simulations)} (${place(falsely)}).
- False _contradicted_, where no rival is better: at most ${percent(contradicted.verdicts.contradicted, simulations)} (${place(contradicted)}).
- Power, where every rival is behind by the declared effect: at least ${percent(weakest.verdicts.reproduced, simulations)} (${place(weakest)}).
- False _equivalent_, at exactly the declared effect: at most ${percent(equivalent.verdicts.equivalent, simulations)} (${place(equivalent)}).

|  | seeds | one rival as good: _reproduced_ | _contradicted_ | all as good: _equivalent_ | declared effect: _reproduced_ | _equivalent_ |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

Deviations are of the differences, in units of the declared effect. Most of the noise is the better arm's, so comparisons with several rivals
correlate and skewness does not cancel. Skewed scores are exponential; bimodal ones have two modes, the smaller one with probability 0.3; tied ones
are successes, whose declared effect is 0.2, with the rivals' rate in the name. Where one of three rivals is as good, the others are behind by three
times the declared effect, or have no success.
`
}
