/**
 * Tunes the learning rate of every arm of a paper on seeds above 100, which are not those of its results:
 * `node --import tsx --conditions agoge-source research/testbeds/prefix-tree/tune-paper.ts guide-grpo [SEEDS]`.
 * The paper exports `tuning`.
 */
import { tuned, tuningSeeds } from './index.ts'
import type { Tuning } from './index.ts'

const [id, seeds = '20'] = process.argv.slice(2)
const { tuning } = (await import(new URL(`../../papers/${id}.ts`, import.meta.url).href)) as {
  tuning?: Tuning
}
if (tuning === undefined) throw new Error(`research/papers/${id}.ts exports no \`tuning\``)
console.log(`learning rate ${tuning.grid.join(', ')}; mean score of seeds 101 to ${100 + Number(seeds)}`)
for (const [arm, { best, scores, inside }] of Object.entries(
  tuned(tuning.arms, tuning.grid, tuningSeeds(Number(seeds))),
))
  console.log(
    `${arm}: ${scores.map((score) => score.toFixed(3)).join(', ')}; best ${best}${inside ? '' : ', AT THE EDGE'}`,
  )
