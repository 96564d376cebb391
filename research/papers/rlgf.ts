import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { attempt, rewardOf } from '../answers/attempts.ts'
import { fineTuneOnSolutions, warmStartedOnChains } from '../answers/warm-started.ts'
import { reinforceAnswers } from '../answers/learn-answers.ts'
import type { Attempt, AttemptSettings } from '../answers/attempts.ts'
import type { TextModel } from '../testbeds/tiny-transformer/text-model.ts'
import type { ChainQuestion, Chains } from '../answers/chains.ts'

const depth = 3

/** A scripted guide that continues from any prefix and makes an occasional error. A black box that can only be queried. */
function guideFrom(
  chains: Chains,
  { operations: names, start }: ChainQuestion,
  begun: string,
  random: Random,
) {
  let text = begun
  for (const name of names.slice(begun.length)) {
    const next = chains.apply(name, Number(text.at(-1) ?? start))
    text += random.next() < 0.15 ? random.int(10) : next
  }
  return text
}

const asGiven = (chains: Chains, random: Random) => {
  const question = chains.draw(random, depth)
  return { ...question, solution: guideFrom(chains, question, '', random) }
}

const gain = warmStartedOnChains<ArmRun>({
  taught: (chains) => (random) => asGiven(chains, random),
  tested: [depth],
})

type Sample = (
  model: TextModel,
  chains: Chains,
  questions: readonly ChainQuestion[],
  settings: AttemptSettings,
) => Promise<Attempt<ChainQuestion>[][]>

/** PPO++: for half of the questions the guide begins, and the learner continues. */
const rolledIn: Sample = (model, chains, questions, settings) => {
  const random = createRandom(settings.seed, settings.name)
  const beginnings = questions.map((question) =>
    random.next() < 0.5 ? '' : guideFrom(chains, question, '', random).slice(0, 1 + random.int(depth - 1)),
  )
  return attempt(model, questions, { ...settings, shown: ({ prompt }, i) => prompt + beginnings[i] })
}

/** AggreVaTeD: the learner begins, the guide finishes, and the learner's part is judged by the result. */
const rolledOut: Sample = async (model, chains, questions, settings) => {
  const random = createRandom(settings.seed, settings.name)
  const groups = await attempt(model, questions, settings)
  return groups.map((group) => {
    const length = 1 + random.int(depth)
    return group.map((member) => {
      const ended = guideFrom(chains, member.question, member.text.slice(0, length), random)
      const own = Math.min(length, member.tokens.length)
      const reward = rewardOf(member.question, ended)
      return {
        ...member,
        reward,
        tokens: member.tokens.slice(0, own),
        logprobs: member.logprobs.slice(0, own),
      }
    })
  })
}

const plain: Sample = (model, _, questions, settings) => attempt(model, questions, settings)

function trained(run: ArmRun, sample: Sample): Promise<number> {
  const { seed, budget } = run
  return gain(run, (model, chains) =>
    reinforceAnswers(model, (random) => chains.draw(random, depth), {
      steps: budget.steps,
      seed,
      batch: 16,
      maxTokens: 5,
      learningRate: 1e-3,
      sample: (questions, settings) => sample(model, chains, questions, settings),
    }),
  )
}

export default definePaper({
  id: 'rlgf',
  title: 'Learning to Generate Better Than Your LLM',
  theme: 'reasoning',
  claim:
    'Policy optimisation that begins half of its answers where a guide has led learns more than from its own beginnings alone, and more than imitation of the guide.',
  arms: {
    'guide-rolls-in': (run) => trained(run, rolledIn),
    'plain-reinforcement': (run) => trained(run, plain),
    supervised: (run) =>
      gain(run, (model, chains) => {
        const learn = { steps: run.budget.steps, learningRate: 1e-3, seed: run.seed + 1000 }
        return fineTuneOnSolutions(model, (random) => asGiven(chains, random), learn)
      }),
    'guide-rolls-out': (run) => trained(run, rolledOut),
  },
  metric: 'accuracy gained, without the guide, on questions of three steps that were not met',
  budget: { warm: 100, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'guide-rolls-in', than: ['plain-reinforcement', 'supervised'], atLeast: 0.03 },
  simplifications: [
    'a script that chains operations and errs in 15 of 100 steps stands for a large language model',
    'advantages relative to the group stand for the critic of PPO',
  ],
})
