import { defined } from '../../defined.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { Random } from '../../engine/random/index.ts'
import type { Task } from '../agent/types.ts'
import type { Episode } from '../episode/types.ts'
import { isDemonstration, playDemonstrations } from '../rollout/collect.ts'
import { drawKinds } from '../rollout/task-sampler.ts'
import { withoutDropped } from './dropped-tasks.ts'
import { journaled } from './job.ts'
import type { Job } from './job.ts'
import type { SupervisedSettings } from './types.ts'

/** The demonstrations of one step. */
export interface DemonstrationBatch {
  /** Passes over the demonstrations before this one. 0 where none comes again. */
  epoch: number
  episodes: readonly Episode[]
}

/** Where a supervised phase takes its batches from. A batch depends only on the number of its step. */
export interface DemonstrationSource {
  /** True if there is nothing to train on. */
  isEmpty: boolean
  batch(step: number): DemonstrationBatch | Promise<DemonstrationBatch>
}

/** All demonstrations once, then all again, in the order of a random stream for each pass. */
export function inOrder(
  episodes: readonly Episode[],
  size: number,
  orderOf: (epoch: number) => Random,
): DemonstrationSource {
  const batches = Math.max(1, Math.ceil(episodes.length / size))
  return {
    isEmpty: episodes.length === 0,
    batch(step) {
      const epoch = Math.floor(step / batches)
      const at = (step % batches) * size
      return {
        epoch,
        episodes: orderOf(epoch)
          .shuffle(episodes)
          .slice(at, at + size),
      }
    },
  }
}

/** Demonstrations drawn by the weights of their kinds, each batch anew. A kind without a weight has none of it. */
export function byKind(
  episodes: readonly Episode[],
  {
    batch: size,
    kindWeights,
    orderOf,
  }: {
    batch: number
    kindWeights: Readonly<Record<string, number>>
    orderOf: (...key: (string | number)[]) => Random
  },
): DemonstrationSource {
  const kinds = [...new Set(episodes.map(({ kind }) => kind))].filter((kind) => (kindWeights[kind] ?? 0) > 0)
  const own = new Map(kinds.map((kind) => [kind, episodes.filter((episode) => episode.kind === kind)]))
  return {
    isEmpty: kinds.length === 0,
    batch(step) {
      const random = orderOf('batch', step)
      const decks = new Map([...own].map(([kind, all]) => [kind, random.shuffle(all)]))
      const next = new Map<string, number>()
      const drawn = drawKinds(kinds, (kind) => kindWeights[kind], size, random).map((kind) => {
        const at = next.get(kind) ?? 0
        next.set(kind, at + 1)
        const deck = decks.get(kind)!
        return deck[at % deck.length]
      })
      return { epoch: Math.floor((step * size) / episodes.length), episodes: drawn }
    },
  }
}

/** New training tasks for every batch, which the expert plays when they are needed. */
export function freshSource<T extends Task>(
  job: Job<T>,
  { batch: size, kindWeights }: Pick<SupervisedSettings, 'batch' | 'kindWeights'>,
): DemonstrationSource {
  const { options, state, signal } = job
  const { environment, tokenizer, chat, plan, seed } = options
  const source = withoutDropped(options.tasks, state)
  const weightOf = (kind: string): number => (kindWeights === undefined ? 1 : (kindWeights[kind] ?? 0))
  const kinds = source.kinds.filter((kind) => weightOf(kind) > 0)
  return {
    isEmpty: kinds.length === 0,
    async batch(step) {
      const random = createRandom(seed, 'fresh-demonstrations', step)
      const tasks = drawKinds(kinds, weightOf, size, random).map((kind) =>
        source.task({ split: 'train', kind, seed: random.int(2 ** 31) }),
      )
      const played = await journaled(job, 'demonstrations', () =>
        playDemonstrations({
          tasks,
          environment,
          tokenizer,
          limits: plan.limits,
          ...defined({ format: chat?.format, signal }),
        }),
      )
      return { epoch: 0, episodes: played.filter(isDemonstration) }
    },
  }
}
