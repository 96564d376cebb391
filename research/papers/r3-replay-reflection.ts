import { grpoAdvantages } from 'agoge/losses'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import { attempt } from '../answers/text-model.ts'
import { reinforceAnswers } from '../answers/learn-answers.ts'
import { warmStartedOnChains } from '../answers/warm-started.ts'
import type { Attempt } from '../answers/text-model.ts'
import type { ChainQuestion } from '../answers/chains.ts'

const depth = 4
const maxTokens = 6

/** After a first answer the question is asked again, to correct the first answer. */
const again = (prompt: string, said: string): string => `${prompt}${said}?`

/** Knows short questions well, long ones hardly, and that a second answer may differ from the first. */
const gain = warmStartedOnChains<ArmRun>({
  places: depth,
  symbols: '?',
  taught: (chains) => (random) => {
    if (random.next() < 0.7) return chains.draw(random, 1 + random.int(3))
    const question = chains.draw(random, depth)
    if (random.next() < 0.3) return question
    const wrong = Array.from(question.solution)
    for (let at = random.int(depth); at < depth; at++) wrong[at] = String(random.int(10))
    return { ...question, prompt: again(question.prompt, wrong.join('')) }
  },
  tested: [depth],
})

type Group = Attempt<ChainQuestion>[]
interface Parts {
  replay?: boolean
  reflection?: boolean
  ranking?: boolean
}

const failed = (group: Group): boolean => group.every(({ reward }) => reward === 0)
const surprise = ({ logprobs }: Attempt): number => -average(logprobs)

/** Among answers that all failed, gives confident ones a slightly higher reward. */
function ranked(group: Group): number[] {
  const order = group.map(surprise).toSorted((a, b) => a - b)
  return group.map((member) => 0.1 * (1 - order.indexOf(surprise(member)) / group.length))
}

function trained(
  run: ArmRun,
  { replay = false, reflection = false, ranking = false }: Parts,
): Promise<number> {
  const { seed, budget } = run
  const remembered = new Map<string, Attempt<ChainQuestion>>()
  return gain(run, async (model, chains) => {
    const random = createRandom(seed, 'pool')
    const pool = Array.from({ length: 48 }, () => chains.draw(random, depth))
    await reinforceAnswers(model, (draws) => draws.pick(pool), {
      steps: budget.steps,
      seed,
      batch: 16,
      maxTokens,
      learningRate: 1e-3,
      async sample(questions, settings) {
        if (!reflection) return attempt(model, questions, settings)
        // If the first half of a group failed, the second half is asked again with one of the failures shown.
        const half = { ...settings, groupSize: settings.groupSize / 2 }
        const first = await attempt(model, questions, half)
        const said = first.map((group) =>
          failed(group) ? again(group[0].question.prompt, group[0].text) : undefined,
        )
        const shown = ({ prompt }: { prompt: string }, i: number) => said[i] ?? prompt
        const second = await attempt(model, questions, { ...half, name: `${settings.name}/again`, shown })
        return first.map((group, g) => [
          ...group,
          ...second[g].map((member) => ({ ...member, prompt: group[0].prompt })),
        ])
      },
      examples(_, groups) {
        return groups.flatMap((plain) => {
          const { prompt } = plain[0].question
          const known = remembered.get(prompt)
          const right = plain.find(({ reward }) => reward === 1)
          if (right !== undefined) remembered.set(prompt, right)
          // A replayed answer keeps its old probability, so the ratio measures how far the policy has moved.
          const group = replay && failed(plain) && known !== undefined ? [known, ...plain.slice(1)] : plain
          const rewards = ranking && failed(group) ? ranked(group) : group.map(({ reward }) => reward)
          const advantages = grpoAdvantages(rewards, { std: false })
          return group.map((member, m) => ({ ...member, advantage: advantages[m] }))
        })
      },
    })
  })
}

export default definePaper({
  id: 'r3-replay-reflection',
  title: 'R^3: Replay, Reflection, and Ranking Rewards for LLM Reinforcement Learning',
  theme: 'reasoning',
  claim:
    'On hard questions, replayed successes, second answers to failed questions and a ranking of failures by entropy together learn more than group-relative reinforcement alone.',
  arms: {
    r3: (run) => trained(run, { replay: true, reflection: true, ranking: true }),
    'group-relative': (run) => trained(run, {}),
    'without-replay': (run) => trained(run, { reflection: true, ranking: true }),
    'without-reflection': (run) => trained(run, { replay: true, ranking: true }),
    'without-ranking': (run) => trained(run, { replay: true, reflection: true }),
  },
  metric: 'accuracy gained on questions of four steps that were not met, with the same number of answers',
  budget: { warm: 140, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'r3', than: ['group-relative'], atLeast: 0.03 },
  simplifications: [
    'a transformer of 21 thousand weights, taught to answer again after a wrong answer, stands for a language model',
    'mean surprise of an answer stands for the structure of its entropy; advantages are not divided by the deviation',
  ],
})
