import { AgogeError } from 'agoge'
import { createRandom, type Random } from 'agoge/engine'
import { applyUpdate, imitationSequence, type TrainingSequence } from 'agoge/llm'
import { copyWeights, restoreWeights, type TextModel } from './text-model.ts'
import { scoreExactly } from './exact-score.ts'
import type { TinyQuestion, TinyTask } from './tasks.ts'

/** Stands in a prompt for the end token of an earlier answer. */
const endMark = '\0'

/** A text that the model learns to continue. */
export interface TaughtText {
  prompt: string
  solution: string
}

export interface WarmStartOptions {
  seed: number
  /** Exact pass@1 on the validation questions at which to stop. Default: 0.3. */
  competence?: number
  /** Draws what is taught. Default: the solution of a training question, also after a wrong answer if there are two turns. */
  taught?: (random: Random, task: TinyTask) => TaughtText
  /** What the model reads in validation. Default: the question's prompt. */
  shown?: (question: TinyQuestion) => string
  /** Default: 0.006. */
  learningRate?: number
  /** Texts per step. Default: 64. */
  batch?: number
  /** Most steps. Default: 1200. */
  most?: number
}

export interface WarmStartReport {
  /** Steps of supervised learning. */
  steps: number
  /** Exact pass@1 on the validation questions of the weights that are kept. */
  passAt1: number
  /** The same for the checkpoint at which the competence was passed, without interpolation. */
  uninterpolated: number
}

/** Steps between two scores. */
const interval = 5

/**
 * Supervised learning up to a fixed competence. The score is taken every 5 steps. The weights between the last two
 * scores are interpolated, by bisection, until the score is within 0.002 of the competence.
 *
 * @throws AgogeError `no-competence` if the steps do not suffice.
 */
export async function warmStart(
  model: TextModel,
  task: TinyTask,
  options: WarmStartOptions,
): Promise<WarmStartReport> {
  const {
    seed,
    competence = 0.3,
    taught = expertText,
    learningRate = 0.006,
    batch = 64,
    most = 1200,
  } = options
  const { shown = ({ prompt }: TinyQuestion) => prompt } = options
  const random = createRandom(seed, 'warm-start')
  const score = async (): Promise<number> =>
    (await scoreExactly(model, task, task.validation, { shown, smallest: 4e-3 })).passAt1
  let below = copyWeights(model)
  let passAt1 = 0
  for (let step = 1; step <= most; step++) {
    const texts = Array.from({ length: batch }, () => taught(random, task))
    await fineTune(model, texts, learningRate * Math.min(1, step / 10))
    if (step % interval !== 0) continue
    passAt1 = await score()
    if (passAt1 >= competence) {
      const found = await interpolate(model, below, { competence, score })
      return { steps: step, passAt1: found, uninterpolated: passAt1 }
    }
    below = copyWeights(model)
  }
  throw new AgogeError('The warm start did not reach its competence', {
    code: 'bad-config',
    given: passAt1,
    expected: `pass@1 of ${competence} on the validation questions within ${most} steps`,
    hint: 'Teach more, or ask for less',
  })
}

/** Bisection between weights that score less and the model's, which score at least the competence. */
async function interpolate(
  model: TextModel,
  below: Float32Array,
  { competence, score }: { competence: number; score: () => Promise<number> },
): Promise<number> {
  const above = copyWeights(model)
  let [low, high] = [0, 1]
  let found = 0
  for (let tries = 0; tries < 12; tries++) {
    const share = (low + high) / 2
    restoreWeights(
      model,
      below.map((weight, i) => weight + share * (above[i] - weight)),
    )
    found = await score()
    if (Math.abs(found - competence) < 0.002) break
    if (found < competence) low = share
    else high = share
  }
  return found
}

/** One step of supervised learning, mean cross-entropy over tokens. */
export async function fineTune(
  { backend, symbols }: TextModel,
  texts: readonly TaughtText[],
  learningRate: number,
): Promise<void> {
  const tokens = texts.reduce((sum, { solution }) => sum + solution.length + 1, 0)
  const sequences = texts.map((text) => taughtSequence(symbols, text, 1 / tokens))
  await applyUpdate(backend, { sequences, loss: { name: 'cross_entropy' } }, { learningRate, clip: 1 })
}

/** A row for the trainer with this weight for each token of the solution and its end. */
export function taughtSequence(
  symbols: TextModel['symbols'],
  { prompt, solution }: TaughtText,
  weight: number,
): TrainingSequence {
  const tokens = Int32Array.from([...symbols.encode(solution), symbols.end])
  const [first, ...others] = prompt.split(endMark).map((part) => symbols.encode(part))
  const read = [...first, ...others.flatMap((part) => [symbols.end, ...part])]
  return imitationSequence({ prompt: Int32Array.from(read), tokens }, { weight })
}

/** The expert's solution. With two turns, half of the time after a wrong answer and its feedback. */
export function expertText(random: Random, task: TinyTask): TaughtText {
  const question = task.draw(random)
  const { prompt, solution } = question
  if (task.turns === 1 || random.next() < 0.5) return { prompt, solution }
  const place = random.int(solution.length)
  const wrong = solution.slice(0, place) + Array.from(solution.slice(place), () => random.int(10)).join('')
  if (wrong === solution) return { prompt, solution }
  return { prompt: `${prompt}${wrong}${endMark}${task.feedback(question, wrong)}`, solution }
}
