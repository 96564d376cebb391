import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import type { Random } from 'agoge/engine'
import { answerLogprobs, copyWeights, type TextModel, withTextModel, attempt } from '../answers/text-model.ts'
import { examine, reinforceAnswers } from '../answers/learn-answers.ts'
import { fineTuneOnSolutions, warmStarted } from '../answers/warm-started.ts'
import type { Attempt, Question } from '../answers/text-model.ts'

const maxTokens = 9
const alphabet = 'abcdefgh='
/** Which letters may follow each: the grammar of the language. The good ones are rare and have few successors. */
const followers: Readonly<Record<string, string>> = Object.fromEntries(
  ['abcd', 'bacf', 'cabe', 'daef', 'ecdg', 'fbdh', 'geh', 'hfg'].map((row) => [row[0], row.slice(1)]),
)
const liked = 'gh'

/** Eight letters by the grammar, after a given first letter; positive letters come a third as often. */
function sentence(first: string, random: Random): string {
  let text = first
  while (text.length < 8) {
    const next = Array.from(followers[text.at(-1) ?? 'a'])
    text += next[random.weighted(next.map((letter) => (liked.includes(letter) ? 0.5 : 1.5)))]
  }
  return text
}

const grammatical = (text: string): boolean =>
  text.length === 8 &&
  Array.from(text).every((letter, i) => i === 0 || (followers[text[i - 1]] ?? '').includes(letter))

/** Share of positive letters. Measures sentiment whether or not the text follows the grammar. */
const sentiment = (text: string): number =>
  text.length === 0 ? 0 : average(Array.from(text, (letter) => Number(liked.includes(letter))))

function draw(random: Random): Question {
  const first = random.pick(['a', 'b', 'c', 'd', 'e', 'f'])
  return { prompt: `${first}=`, solution: sentence(first, random), judge: sentiment }
}

/** The measure for valid texts; 0 for others. */
async function quality(model: TextModel): Promise<number> {
  const asked = Array.from('abcdef', (first) => ({ prompt: `${first}=`, solution: '', judge: sentiment }))
  const { groups } = await examine(model, asked, { maxTokens, samples: 32 })
  return average(groups.flat().map(({ text, reward }) => (grammatical(text) ? reward : 0)))
}

const gain = warmStarted<ArmRun>({
  model: () => ({ alphabet }),
  teach: (model, { seed, budget }) =>
    fineTuneOnSolutions(model, draw, { steps: budget.warm, learningRate: 0.006, seed }),
  test: quality,
})

/** Rewards minus a divergence penalty, as in RL4LMs. */
async function lessDivergence(reference: TextModel, groups: Attempt[][]): Promise<Attempt[][]> {
  const theirs = await answerLogprobs(reference, groups.flat())
  let at = 0
  return groups.map((group) =>
    group.map((member) => {
      const reference = theirs[at++]
      const divergence = member.logprobs.reduce((sum, own, t) => sum + own - reference[t], 0)
      return { ...member, reward: member.reward - 0.05 * divergence }
    }),
  )
}

function trained(run: ArmRun, topP?: number): Promise<number> {
  const { seed, budget } = run
  const cut = topP === undefined ? {} : { topP }
  return gain(run, (model) =>
    withTextModel({ alphabet, seed, weights: copyWeights(model) }, (reference) =>
      reinforceAnswers(model, draw, {
        steps: budget.steps,
        seed,
        groupSize: 16,
        maxTokens,
        learningRate: 1e-3,
        sample: async (questions, settings) =>
          lessDivergence(reference, await attempt(model, questions, { ...settings, ...cut })),
      }),
    ),
  )
}

/** Further supervised training on the same texts. */
const supervised = (run: ArmRun): Promise<number> =>
  gain(run, (model) =>
    fineTuneOnSolutions(model, draw, { steps: run.budget.steps, learningRate: 1e-3, seed: run.seed + 1000 }),
  )

export default definePaper({
  id: 'rl4lms',
  title:
    'Is Reinforcement Learning (Not) for Natural Language Processing: Benchmarks, Baselines, and Building Blocks for Natural Language Policy Optimization',
  theme: 'reasoning',
  claim:
    'Reinforcement with a divergence from the reference aligns a language model better than supervised learning, and sampling among the likeliest tokens alone (NLPO) better still.',
  arms: {
    nlpo: (run) => trained(run, 0.9),
    ppo: (run) => trained(run),
    supervised,
  },
  metric:
    'gain in the share of liked letters in sampled texts, where a text that breaks the grammar counts for nothing',
  budget: { warm: 100, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'nlpo', than: ['ppo', 'supervised'], atLeast: 0.05 },
  simplifications: [
    'an invented grammar of eight letters and a lexicon of two stand for GRUE',
    'the mask is that of the policy at the beginning of each step, which is how often it is copied; advantages are relative to the group, without a critic',
  ],
})
