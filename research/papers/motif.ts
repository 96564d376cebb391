import { grpoAdvantages } from 'agoge/losses'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import { attempt, rewardOf } from '../answers/attempts.ts'
import { learnExamples } from '../answers/learn-answers.ts'
import { warmStartedOnChains } from '../answers/warm-started.ts'
import type { Attempt } from '../answers/attempts.ts'
import type { TextModel } from '../testbeds/tiny-transformer/text-model.ts'
import type { ChainQuestion, Chains } from '../answers/chains.ts'

/** Digits that a round may write, and its end. */
const window = 2
const maxTokens = window + 1
const depth = 4
const groupSize = 8

/** The remaining question after a round that wrote `text`: its last digit, without the operations already applied. */
function left(chains: Chains, { operations: names, start }: ChainQuestion, text: string): ChainQuestion {
  const digit = Number(text.at(-1) ?? start)
  return chains.ask(names.slice(text.length), Number.isInteger(digit) ? digit : start)
}

interface Thought {
  rounds: Attempt<ChainQuestion>[]
  reward: number
}

/** Thinks in rounds, each of which sees only the previous round's result. */
async function think(
  model: TextModel,
  chains: Chains,
  questions: readonly ChainQuestion[],
  settings: { name: string; seed: number; rounds: number },
): Promise<Thought[]> {
  const thoughts = questions.map((): Thought => ({ rounds: [], reward: 0 }))
  let asked: readonly ChainQuestion[] = questions
  for (let round = 0; round < settings.rounds; round++) {
    const name = `${settings.name}/${round}`
    const said = (await attempt(model, asked, { name, seed: settings.seed, maxTokens })).flat()
    asked = said.map((member, i) => {
      thoughts[i].rounds.push(member)
      return member.finish === 'stop' ? left(chains, asked[i], member.text) : asked[i]
    })
  }
  for (const [i, thought] of thoughts.entries()) {
    const { finish, text } = thought.rounds[settings.rounds - 1]
    thought.reward = finish === 'stop' ? rewardOf(questions[i], text) : 0
  }
  return thoughts
}

/** Knows questions that fit into a round. */
const gain = warmStartedOnChains<ArmRun & { rounds: number }>({
  places: depth,
  taught: (chains) => (random) => {
    const question = chains.draw(random, 1 + random.int(depth))
    return { ...question, solution: question.solution.slice(0, window) }
  },
  async tested(model, chains, { seed, rounds }) {
    const tests = chains.test(64, [depth]).flatMap((question) => [question, question, question, question])
    return average(
      (await think(model, chains, tests, { name: 'test', seed, rounds })).map(({ reward }) => reward),
    )
  },
})

/** Accuracy gained in `tested` rounds by training in `rounds` rounds. */
function trained(run: ArmRun, rounds: number, tested = rounds): Promise<number> {
  const { seed, budget } = run
  const random = createRandom(seed, 'motif')
  return gain({ ...run, rounds: tested }, async (model, chains) => {
    for (let step = 0; step < budget.steps; step++) {
      const questions = Array.from({ length: 12 }, () => chains.draw(random, depth))
      const members = questions.flatMap((question) => Array.from({ length: groupSize }, () => question))
      const thoughts = await think(model, chains, members, { name: `step/${step}`, seed, rounds })
      // Every round shares the outcome that it led to.
      const advantages = questions.flatMap((_, g) =>
        grpoAdvantages(thoughts.slice(g * groupSize, (g + 1) * groupSize).map(({ reward }) => reward)),
      )
      const examples = thoughts.flatMap((thought, i) =>
        thought.rounds.map((said) => ({ ...said, advantage: advantages[i] })),
      )
      if (advantages.some((advantage) => advantage !== 0))
        await learnExamples(model, examples, { learningRate: 1e-3 })
    }
  })
}

export default definePaper({
  id: 'motif',
  title: 'MOTIF: Modular Thinking via Reinforcement Fine-tuning in LLMs',
  theme: 'reasoning',
  claim:
    'Where thought is longer than the window, training on rounds that hand their result on, by the outcome of the last, learns more than GRPO within one window.',
  arms: {
    motif: (run) => trained(run, 2),
    grpo: (run) => trained(run, 1),
    'grpo-tested-in-rounds': (run) => trained(run, 1, 2),
  },
  metric: `accuracy gained, over the model before in as many rounds, on questions of ${depth} steps that were not met; a round has ${window} digits`,
  budget: { warm: 150, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'motif', than: ['grpo'], atLeast: 0.03 },
  simplifications: [
    'a round that ends hands on its last digit and the operations not yet done, put into words by a script',
    'a transformer of 21 thousand weights that chains operations on digits stands for a language model',
  ],
})
