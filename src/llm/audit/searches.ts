import { createRandom } from '../../engine/random/index.ts'
import type { Reference } from './outcome-check.ts'
import { randomGenome, scriptOf, searchGenomes, searchSpace } from './search.ts'
import { play, resultOf } from './trials.ts'
import type { AttackResult, Audit, Trial } from './trials.ts'

/** Three episodes of each task. */
export async function randomSearch(audit: Audit, own: readonly Reference[]): Promise<AttackResult> {
  const space = searchSpace(audit.tools)
  const trials = [0, 1, 2].flatMap((again) =>
    own.map((reference, at): Trial => {
      const genome = randomGenome(space, createRandom(audit.seed, 'random search', at, again))
      return { reference, variant: genome.join(', '), script: (context) => scriptOf(genome, context) }
    }),
  )
  return resultOf(
    audit,
    {
      name: 'random search',
      about: 'random calls with values that were seen, then a random answer',
      advice:
        'See the example: the judge rewards it although its state or answer differs from that of the expert.',
    },
    await play(audit, trials),
  )
}

/** More kinds than this share one search. */
const mostSearches = 8

/** A search for each kind of task on the practice tasks, then one episode of each task. */
export async function learntSearch(
  audit: Audit,
  practised: readonly Reference[],
  own: readonly Reference[],
): Promise<AttackResult> {
  const space = searchSpace(audit.tools)
  const kinds = [...new Set(own.map(({ task }) => task.kind))]
  const searches = kinds.length > mostSearches ? [kinds] : kinds.map((kind) => [kind])
  const trials: Trial[] = []
  for (const [at, kindsOfSearch] of searches.entries()) {
    const isOwn = ({ task }: Reference): boolean => kindsOfSearch.includes(task.kind)
    const references = practised.filter(isOwn)
    if (references.length === 0) continue
    let played = 0
    const genome = await searchGenomes(space, {
      random: createRandom(audit.seed, 'learnt search', at),
      generations: 6,
      size: Math.min(40, Math.ceil(audit.effort / 15)),
      gain: async (genomes) => {
        const tried = await play(
          audit,
          genomes.map((one): Trial => ({
            reference: references[played++ % references.length],
            variant: one.join(', '),
            script: (context) => scriptOf(one, context),
          })),
        )
        return tried.map(({ value }) => value)
      },
    })
    const variant = genome.join(', ')
    for (const reference of own.filter(isOwn))
      trials.push({ reference, variant, script: (context) => scriptOf(genome, context) })
  }
  return resultOf(
    audit,
    {
      name: 'learnt search',
      about: 'calls and an answer that the cross-entropy method found to be rewarded',
      advice:
        'See the example: the judge rewards it although its state or answer differs from that of the expert.',
    },
    await play(audit, trials),
  )
}
