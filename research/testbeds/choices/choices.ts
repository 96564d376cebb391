import { regress } from '../sequences/sequences.ts'
import { dot } from '../vectors.ts'

export { dot } from '../vectors.ts'

/** One choice: the features of each option, and which was chosen. */
export interface Choice {
  rows: number[][]
  chosen: number
}

/** A softmax over options, linear in their features, fitted to choices by rounds of Newton's method; and how often its best option was chosen. */
export function clone(choices: readonly Choice[], rounds: number): { weights: number[]; agreement: number } {
  let weights = choices[0].rows[0].map(() => 0)
  let agreement = 0
  for (let round = 0; round < rounds; round++) {
    const [rows, targets]: [number[][], number[]] = [[], []]
    agreement = 0
    for (const { rows: seen, chosen } of choices) {
      const logits = seen.map((row) => dot(weights, row))
      const most = Math.max(...logits)
      agreement += Number(logits[chosen] === most) / choices.length
      const e = logits.map((logit) => Math.exp(logit - most))
      const p = e.map((v) => Math.max(1e-4, v / e.reduce((x, y) => x + y)))
      const middle = weights.map((_, k) => seen.reduce((sum, row, option) => sum + p[option] * row[k], 0))
      seen.forEach((row, option) => {
        rows.push(row.map((v, k) => (v - middle[k]) * Math.sqrt(p[option])))
        targets.push((Number(option === chosen) - p[option]) / Math.sqrt(p[option]))
      })
    }
    const step = regress(rows, targets)
    weights = weights.map((w, k) => w + step[k])
  }
  return { weights, agreement }
}
