import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { attempt } from '../answers/text-model.ts'
import { reinforceAnswers } from '../answers/learn-answers.ts'
import { warmStartedOnChains } from '../answers/warm-started.ts'
import type { Attempt } from '../answers/text-model.ts'
import type { ChainQuestion, Chains } from '../answers/chains.ts'

const depth = 3

/** Prepends a solved question that differs only in the last operation, so that a reader can copy from it. */
function withExample(chains: Chains, question: ChainQuestion, random: Random): string {
  const { operations, start } = question
  const example = chains.ask(operations.slice(0, -1) + random.pick(['a', 'b', 'c', 'd']), start)
  return `${example.prompt}${example.solution};${question.prompt}`
}

/** Knows shorter questions, and how to use an example. */
const gain = warmStartedOnChains<ArmRun>({
  symbols: ';',
  taught: (chains) => (random) => {
    if (random.next() < 0.5) return chains.draw(random, 1 + random.int(2))
    const question = chains.draw(random, depth)
    return { ...question, prompt: withExample(chains, question, random) }
  },
  tested: [depth],
})

interface Parts {
  steered: boolean
  rejects?: boolean
  bonus?: boolean
}

function trained(run: ArmRun, { steered, rejects = false, bonus = false }: Parts): Promise<number> {
  const { seed, budget } = run
  return gain(run, (model, chains) => {
    const random = createRandom(seed, 'examples')
    return reinforceAnswers(model, (draws) => chains.draw(draws, depth), {
      steps: budget.steps,
      seed,
      batch: 12,
      maxTokens: 5,
      learningRate: 1e-3,
      async sample(questions, settings, step) {
        if (!steered) return attempt(model, questions, settings)
        const half = { ...settings, groupSize: settings.groupSize / 2 }
        const own = await attempt(model, questions, half)
        const examples = questions.map((question) => withExample(chains, question, random))
        const shown = (_: unknown, i: number) => examples[i]
        const experts = await attempt(model, questions, { ...half, name: `${settings.name}/expert`, shown })
        const extra = bonus ? 0.5 * (1 - step / budget.steps) : 0
        return own.map((group, g) => [...group, ...asOwn(experts[g], group[0], { rejects, extra })])
      },
    })
  })
}

/**
 * Trains answers sampled with an example as answers to the plain question; the ratio compares the probabilities in both
 * contexts.
 */
function asOwn(
  experts: readonly Attempt<ChainQuestion>[],
  { prompt }: Attempt<ChainQuestion>,
  { rejects, extra }: { rejects: boolean; extra: number },
): Attempt<ChainQuestion>[] {
  return experts
    .filter(({ reward }) => !rejects || reward === 1)
    .map((member) => ({ ...member, prompt, reward: member.reward * (1 + extra) }))
}

export default definePaper({
  id: 'icpo',
  title: 'Think Outside the Policy: In-Context Steered Policy Optimization',
  theme: 'reasoning',
  claim:
    'Answers given with an example in context, those that failed left out, those that succeeded rewarded with a bonus that fades, teach more than GRPO on answers without.',
  arms: {
    icpo: (run) => trained(run, { steered: true, rejects: true, bonus: true }),
    grpo: (run) => trained(run, { steered: false }),
    'without-rejection': (run) => trained(run, { steered: true, bonus: true }),
    'without-bonus': (run) => trained(run, { steered: true, rejects: true }),
  },
  metric:
    'accuracy gained, without examples, on questions of three steps that were not met, with the same number of answers',
  budget: { warm: 110, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'icpo', than: ['grpo'], atLeast: 0.03 },
  simplifications: [
    'a transformer of 21 thousand weights, taught to answer with and without an example, stands for a language model that learns in context',
    'an answer is in the region of the expert where it is right',
  ],
})
