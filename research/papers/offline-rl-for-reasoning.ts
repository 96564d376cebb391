import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { answerLogprobs, type TextModel, attempt } from '../answers/text-model.ts'
import { examine, reinforceAnswers } from '../answers/learn-answers.ts'
import { fineTuneOnSolutions, warmStartedOnChains } from '../answers/warm-started.ts'
import type { ChainQuestion, Chains } from '../answers/chains.ts'
import type { Question } from '../answers/text-model.ts'
import { dpo, learnPreferences, moveWeights } from 'agoge/llm'
import type { PreferencePair } from 'agoge/llm'

const depths = [1, 2, 3]
const maxTokens = 9

/** Some solutions end with up to four dots, which carry no content. */
function wordy(chains: Chains, random: Random) {
  const question = chains.draw(random, random.pick(depths))
  return { ...question, solution: question.solution + '.'.repeat(random.int(5)) }
}

/** Judges the last digit, whatever dots follow. */
const judged = (question: ChainQuestion): Question => ({
  ...question,
  judge: (answer) => Number(answer.replace(/\.*$/, '').endsWith(String(question.steps.at(-1)))),
})
const drawn = (chains: Chains, random: Random) => judged(chains.draw(random, random.pick(depths)))

const gain = warmStartedOnChains<ArmRun>({
  taught: (chains) => (random) => wordy(chains, random),
  tested: async (model, chains) =>
    (await examine(model, chains.test(96, depths).map(judged), { maxTokens, samples: 4 })).accuracy,
})

/**
 * A right and a wrong answer to each question that has both. Takes the longest right answer, as raters with a length
 * bias would.
 */
async function pairsOf(
  model: TextModel,
  chains: Chains,
  { seed, budget }: ArmRun,
): Promise<PreferencePair[]> {
  const random = createRandom(seed, 'pairs')
  const questions = Array.from({ length: budget.questions }, () => drawn(chains, random))
  const groups = await attempt(model, questions, { name: 'pairs', seed, maxTokens, groupSize: 8 })
  return groups.flatMap((group) => {
    const right = group.filter(({ reward }) => reward === 1).sort((a, b) => b.tokens.length - a.tokens.length)
    const wrong = group.filter(({ reward, finish }) => reward === 0 && finish === 'stop')
    if (right.length === 0 || wrong.length === 0) return []
    return [{ prompt: group[0].prompt, chosen: right[0].tokens, rejected: wrong[0].tokens }]
  })
}

function preferred(run: ArmRun, lengthWeight: number): Promise<number> {
  const { seed, budget } = run
  return gain(run, async (model, chains) => {
    const method = dpo({ lengthWeight, beta: 0.3 })
    const pairs = await pairsOf(model, chains, run)
    const answers = method.answers(pairs)
    const logprobs = await answerLogprobs(model, answers.flat())
    const reference = answers.map((pair, i) =>
      pair.map(({ weights }, k) =>
        logprobs[2 * i + k].reduce((sum, value, t) => sum + value * (weights?.[t] ?? 1), 0),
      ),
    )
    const random = createRandom(seed, 'order')
    for (let step = 0; step < budget.steps && pairs.length > 0; step++) {
      const batch = Array.from({ length: 32 }, () => random.int(pairs.length))
      await learnPreferences(
        model.backend,
        method,
        batch.map((i) => ({ example: pairs[i], answers: answers[i], reference: reference[i] })),
      )
      await moveWeights(model.backend, { learningRate: 1e-4, clip: 1 })
    }
  })
}

export default definePaper({
  id: 'offline-rl-for-reasoning',
  title: 'Exploring the Potential of Offline RL for Reasoning in LLMs: A Preliminary Study',
  theme: 'reasoning',
  claim:
    'Preferences between right and wrong answers of its own improve a model more than further supervised learning, and more where tokens beyond the shared length weigh little (LD-DPO).',
  arms: {
    'ld-dpo': (run) => preferred(run, 0.3),
    dpo: (run) => preferred(run, 1),
    supervised: (run) =>
      gain(run, (model, chains) =>
        fineTuneOnSolutions(model, (random) => wordy(chains, random), {
          steps: run.budget.steps,
          learningRate: 1e-3,
          seed: run.seed + 1000,
        }),
      ),
    'grpo-online': (run) =>
      gain(run, (model, chains) =>
        reinforceAnswers(model, (random) => drawn(chains, random), {
          steps: run.budget.steps,
          seed: run.seed,
          maxTokens,
          learningRate: 1e-3,
        }),
      ),
  },
  metric:
    'accuracy gained on questions of one to three steps that were not met, with the same number of updates',
  budget: { warm: 150, questions: 512, steps: 40 },
  quick: { warm: 2, questions: 16, steps: 1 },
  pairing: 'seed',
  effect: { better: 'ld-dpo', than: ['supervised', 'dpo'], atLeast: 0.03 },
  simplifications: [
    'right answers to prefer are the longest of eight, so that length is confounded with being right',
    'a transformer of 21 thousand weights that chains operations on digits stands for a language model',
  ],
})
