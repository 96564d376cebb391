import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { answerLogprobs, type TextModel, attempt } from '../answers/text-model.ts'
import { reinforceAnswers } from '../answers/learn-answers.ts'
import { warmStartedOnChains } from '../answers/warm-started.ts'
import type { Attempt, AttemptSettings } from '../answers/text-model.ts'
import type { ChainQuestion } from '../answers/chains.ts'

const depth = 3
/** The teacher's hint: all intermediate digits but the last. */
const hinted = ({ operations, start, steps }: ChainQuestion) =>
  `${operations}${start}?${steps.slice(0, -1).join('')}=`

/** Knows shorter questions, and how to use a hint. */
const gain = warmStartedOnChains<ArmRun>({
  symbols: '?',
  taught: (chains) => (random) => {
    if (random.next() < 0.5) return chains.draw(random, 1 + random.int(2))
    const question = chains.draw(random, depth)
    return { ...question, prompt: hinted(question) }
  },
  tested: [depth],
})

type Questions = readonly ChainQuestion[]
type Sample = (
  model: TextModel,
  questions: Questions,
  settings: AttemptSettings & { groupSize: number },
) => Promise<Attempt<ChainQuestion>[][]>

/** Half of a group has no hint. The other half gets one if all of the first half failed. */
const guided: Sample = async (model, questions, settings) => {
  const half = { ...settings, groupSize: settings.groupSize / 2 }
  const first = await attempt(model, questions, half)
  const failed = first.map((group) => group.every(({ reward }) => reward === 0))
  const shown = (_: unknown, i: number) => (failed[i] ? hinted(questions[i]) : questions[i].prompt)
  const second = await attempt(model, questions, { ...half, name: `${settings.name}/second`, shown })
  // The answer is trained on the question without the hint; the ratio compares the probabilities in both contexts.
  return first.map((group, g) => [
    ...group,
    ...second[g].map((member) => ({ ...member, prompt: group[0].prompt })),
  ])
}

/** The same, as if the answers had been sampled without a hint: the ratio is 1. */
const unadjusted: Sample = async (model, questions, settings) => {
  const groups = await guided(model, questions, settings)
  const logprobs = await answerLogprobs(model, groups.flat())
  let at = 0
  return groups.map((group) => group.map((member) => ({ ...member, logprobs: logprobs[at++] })))
}

const alwaysHinted: Sample = (model, questions, settings) =>
  attempt(model, questions, { ...settings, shown: (_, i) => hinted(questions[i]) })

function trained(run: ArmRun, sample: Sample): Promise<number> {
  const { seed, budget } = run
  return gain(run, (model, chains) =>
    reinforceAnswers(model, (random) => chains.draw(random, depth), {
      steps: budget.steps,
      seed,
      batch: 12,
      maxTokens: 5,
      learningRate: 1e-3,
      sample: (questions, settings) => sample(model, questions, settings),
    }),
  )
}

export default definePaper({
  id: 'guide-grpo',
  title: 'Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models',
  theme: 'reasoning',
  claim:
    'Hints for questions at which every answer failed, with the ratio between answering without and with the hint, teach more than GRPO and than hints for every question.',
  arms: {
    guide: (run) => trained(run, guided),
    grpo: (run) => trained(run, attempt),
    'hint-always': (run) => trained(run, alwaysHinted),
    'ratio-of-1': (run) => trained(run, unadjusted),
  },
  metric:
    'accuracy gained, without hints, on questions of three steps that were not met, with the same number of answers',
  budget: { warm: 200, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'guide', than: ['grpo', 'hint-always'], atLeast: 0.05 },
  simplifications: [
    'a transformer of 21 thousand weights stands for language models; it has been taught questions of up to two steps, and how a hint is used',
    'hinted answers take the place of half of the group, so that all arms sample as much',
  ],
})
