import { createRandom, type Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { type ArmResult, type ArmRun, definePaper } from '../runner/paper.ts'
import { sampleTiny } from '../testbeds/tiny-transformer/sample.ts'
import { chainTask, type TinyQuestion, type TinyTask } from '../testbeds/tiny-transformer/tasks.ts'
import { copyWeights, remember, withTextModel } from '../testbeds/tiny-transformer/text-model.ts'
import type { TextModel } from '../testbeds/tiny-transformer/text-model.ts'
import { trainTiny } from '../testbeds/tiny-transformer/train.ts'
import { fineTune } from '../testbeds/tiny-transformer/warm-start.ts'

const names = ['a', 'b', 'c', 'd']
/** Characters of a candidate such as `a5b7`: each operation with its result. */
const step = 4

/** `3ab>7=` asks which two operations of a and b lead from 3 to 7. The four candidates are aa, ab, ba and bb. */
interface PathQuestion extends TinyQuestion {
  candidates: string[]
}

interface PathTask extends TinyTask {
  train: readonly PathQuestion[]
  test: readonly PathQuestion[]
}

/** All questions that have an answer; a quarter is for testing. */
function taskOf(seed: number): PathTask {
  const chains = chainTask({ seed, operations: names.join(''), symbols: '>' })
  const pairs = names.flatMap((a) => names.filter((b) => b !== a).map((b) => [a, b]))
  const questions = Array.from({ length: 10 }, (_, start) =>
    pairs.flatMap((listed) => {
      const candidates = listed.flatMap((first) =>
        listed.map((second) => {
          const [middle, end] = chains.ask(first + second, start).solution
          return first + middle + second + end
        }),
      )
      const targets = [...new Set(candidates.map((candidate) => candidate.slice(-1)))]
      return targets.map((target): PathQuestion => {
        const right = candidates.filter((candidate) => candidate.endsWith(target))
        return {
          prompt: `${start}${listed.join('')}>${target}=`,
          solution: right[0],
          operations: listed.join(''),
          start,
          depth: 2,
          judge: (answer) => Number(right.includes(answer.slice(-step))),
          candidates,
        }
      })
    }),
  ).flat()
  // Two questions that differ by the order of the listed operations alone are in the same split.
  const isTest = ({ operations, start, prompt }: PathQuestion): boolean =>
    createRandom(seed, 'paths', Array.from(operations).toSorted().join(''), start, prompt.slice(-2)).next() <
    0.25
  return {
    ...chains,
    window: 6 + 4 * step + 1,
    maxTokens: 4 * step + 1,
    train: questions.filter((question) => !isTest(question)),
    test: questions.filter(isTest),
  }
}

/** What is read: candidates in some order up to a right one, or a right one alone. */
function textOf({ prompt, candidates, judge }: PathQuestion, search: boolean, random: Random) {
  const order = random.shuffle(candidates)
  const found = order.findIndex((candidate) => judge(candidate) === 1)
  return { prompt, solution: order.slice(search ? 0 : found, found + 1).join('') }
}

/**
 * The share of test questions whose answer is right. A model without search has three answers of five tokens to each, and the
 * commonest counts (of three different ones the first): as many tokens as the longest search.
 */
async function tested(model: TextModel, task: PathTask, search: boolean) {
  const votes = search ? 1 : 3
  const groups = await sampleTiny(model, task, task.test, { name: 'test', seed: 0, groupSize: 6 })
  const right = groups.flatMap((group) =>
    Array.from({ length: group.length / votes }, (_, i) => {
      const asked = group.slice(i * votes, (i + 1) * votes)
      const common = asked.find(({ text }) => asked.filter((other) => other.text === text).length > 1)
      return (common ?? asked[0]).reward
    }),
  )
  const tried = average(groups.flat().map(({ text }) => text.length / step))
  return { score: average(right), tried }
}

/** Weights after supervised learning, with their score. Without the search, twice as many questions are read: as many tokens. */
const readers = [false, true].map((search) =>
  remember(({ seed, budget }: ArmRun) => {
    const task = taskOf(seed)
    return withTextModel({ alphabet: task.alphabet, window: task.window, seed }, async (model) => {
      const random = createRandom(seed, 'read')
      for (let at = 0; at < budget.warm; at++)
        await fineTune(
          model,
          Array.from({ length: search ? 16 : 32 }, () => textOf(random.pick(task.train), search, random)),
          0.003 * Math.min(1, (at + 1) / 10),
        )
      return { weights: copyWeights(model), ...(await tested(model, task, search)) }
    })
  }),
)

async function trained(run: ArmRun, search: boolean, steps: number): Promise<ArmResult> {
  const { seed } = run
  const task = taskOf(seed)
  const { weights, score: start, tried } = await readers[Number(search)](run)
  if (steps === 0) return { score: start, start, measures: { tried } }
  return withTextModel({ alphabet: task.alphabet, window: task.window, seed, weights }, async (model) => {
    const questions = (random: Random) =>
      Array.from({ length: search ? 8 : 16 }, () => random.pick(task.train))
    const learningRate = search ? 1e-4 : 3e-4
    const batches = await trainTiny(model, task, { learningRate, seed, steps, questions })
    const { score, ...measures } = await tested(model, task, search)
    const zeroVariance = average(batches.map((batch) => batch.zeroVariance))
    return { score, start, measures: { ...measures, zeroVariance } }
  })
}

export default definePaper({
  id: 'meta-cot',
  title: 'Towards System 2 Reasoning in LLMs: Learning How to Think With Meta Chain-of-Though',
  theme: 'reasoning',
  claim:
    'A model that has read how solutions were searched for, and is then reinforced, solves more than one that has read the solutions alone and is then reinforced, and than one that has only read.',
  arms: {
    'search-then-rl': (run) => trained(run, true, run.budget.steps),
    'path-then-rl': (run) => trained(run, false, run.budget.steps),
    search: (run) => trained(run, true, 0),
    'barely-read': ({ seed, budget }) => trained({ seed, budget: { ...budget, warm: 1 } }, true, 0),
  },
  metric:
    'share of questions that were not met whose answer is right, after as many tokens in training; without a search, the commonest of three answers counts',
  pairing: 'seed',
  effect: { better: 'search-then-rl', than: ['path-then-rl', 'search'], atLeast: 0.05 },
  checks: [
    {
      about: 'several candidates are tried in an answer',
      arm: ['search', 'search-then-rl'],
      of: 'tried',
      atLeast: 1.5,
    },
    { about: 'a path is one candidate', arm: 'path-then-rl', of: 'tried', atMost: 1.2 },
    {
      about: 'after searches, most groups have unequal rewards',
      arm: 'search-then-rl',
      of: 'zeroVariance',
      atMost: 0.5,
    },
    { about: 'after paths, some groups have', arm: 'path-then-rl', of: 'zeroVariance', atMost: 0.98 },
    { about: 'no arm is saturated', arm: ['search-then-rl', 'path-then-rl'], of: 'score', atMost: 0.97 },
  ],
  control: { positive: { better: 'search', than: 'barely-read', atLeast: 0.05 } },
  budget: { warm: 1000, steps: 40 },
  quick: { warm: 2, steps: 1 },
  simplifications: [
    'four candidates of two operations are all there are, and a candidate is checked by comparing a digit with the prompt: a search that is read without error finds every solution, so what counts is how soon it is learnt',
    'a search of at most four candidates in random order stands for tree search; a transformer of 20 thousand weights for language models',
    'a model that has read paths is sure of its answers: nearly all of its groups have equal rewards, so that reinforcement has little to learn from there',
    'the rate of reading, 0.003, was chosen from 0.0015, 0.003 and 0.006 on four seeds; those of RL, 0.0001 after searches and 0.0003 after paths, from 0.00003, 0.0001, 0.0003 and 0.001 on ten seeds, whose means were in view; with four times the steps, four seeds were no better',
  ],
})
