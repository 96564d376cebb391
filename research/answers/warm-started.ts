import { copyWeights, withTextModel } from './text-model.ts'
import type { TextModel, TextModelOptions } from './text-model.ts'
import { remember } from './remember.ts'
import type { Run } from './remember.ts'

export interface WarmStart<R extends Run> {
  model: (run: R) => Omit<TextModelOptions, 'seed'>
  /** What all arms begin with. */
  teach: (model: TextModel, run: R) => Promise<unknown>
  /** The score of a model, the same questions each time. */
  test: (model: TextModel, run: R) => Promise<number>
}

/**
 * An experiment whose arms all go on from the same model: made from the seed, taught, tested. The arms of a seed share that beginning
 * (it is computed once in a process), and are scored by what they gained over it, so that luck in the beginning counts for nothing.
 *
 * @returns a function of a run and of what its arm does with the model: the score afterwards less that before.
 */
export function warmStarted<R extends Run>({ model: options, teach, test }: WarmStart<R>) {
  const begin = remember((run: R) =>
    withTextModel({ ...options(run), seed: run.seed }, async (model) => {
      await teach(model, run)
      return { weights: copyWeights(model), before: await test(model, run) }
    }),
  )
  return async (run: R, learn: (model: TextModel) => Promise<unknown>): Promise<number> => {
    const { weights, before } = await begin(run)
    return withTextModel({ ...options(run), seed: run.seed, weights }, async (model) => {
      await learn(model)
      return (await test(model, run)) - before
    })
  }
}
