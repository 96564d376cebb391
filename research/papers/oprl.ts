import { grpoAdvantages, onlinePairs } from 'agoge/losses'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import {
  applyUpdate,
  moveWeights,
  createLocalBackend,
  smallConfig,
  creditedSequence,
  imitationSequence,
  sampleAnswers,
  dpo,
  learnPreferences,
} from 'agoge/llm'
import type { LocalBackend, SampledAnswer } from 'agoge/llm'
import { createRandom } from 'agoge/engine'

/** Eight starts and six moves with eight options each. Only one sequence of moves per start is rewarded, at its end. */
const [starts, moves, length, beta] = [8, 8, 6, 0.5]
const prompts = Array.from({ length: starts }, (_, i) => Int32Array.of(0, 1 + i))
const rightMove = (prompt: Int32Array, t: number): number => 1 + ((3 * prompt[1] + 5 * t) % moves)
const heads = { num_attention_heads: 2, num_key_value_heads: 2, max_position_embeddings: 16 }
const size = { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1, vocab_size: 1 + moves }
const config = { ...smallConfig, ...heads, ...size }
const sampling = { maxTokens: length, stop: [], groupSize: 8 }

/** Clones sequences in which six of ten moves are right. */
async function imitator({ seed, budget }: ArmRun): Promise<LocalBackend> {
  const backend = createLocalBackend({ config, seed, threads: 1 })
  const random = createRandom('imitate', seed)
  for (let step = 0; step < budget.imitation; step++) {
    const rows = Array.from({ length: 32 }, () => {
      const prompt = random.pick(prompts)
      const move = (_: unknown, t: number) =>
        random.next() < 0.55 ? rightMove(prompt, t) : 1 + random.int(moves)
      return imitationSequence({ prompt, tokens: Int32Array.from({ length }, move) }, { weight: 1 / 192 })
    })
    await applyUpdate(backend, { sequences: rows, loss: { name: 'cross_entropy' } }, { learningRate: 0.01 })
  }
  return backend
}

/** The implicit reward of each move, normalised over the moves of the group to mean 0, deviation 1. */
function moveAdvantages(group: readonly SampledAnswer[], logprobs: readonly Float32Array[]): number[][] {
  const rewards = group.map(({ prompt, logprobs: old }, i) =>
    Array.from(old, (was, t) => beta * (logprobs[i][prompt.length + t] - was)),
  )
  const all = rewards.flat()
  const deviation = Math.sqrt(average(all.map((reward) => (reward - average(all)) ** 2)))
  return rewards.map((row) => row.map((reward) => (reward - average(all)) / (deviation + 1e-4)))
}

/** Share of right sequences over the last five updates, with the best of three learning rates per arm. */
async function success(run: ArmRun, withProcess: boolean, learningRate: number): Promise<number> {
  const policy = await imitator(run)
  const judge = await imitator(run)
  judge.resetOptimizer()
  const history: number[] = []
  for (let step = 0; step < run.budget.steps; step++) {
    const groups = await sampleAnswers(policy, prompts, { ...sampling, seed: run.seed, name: `${step}` })
    const rewards = groups.map((group) =>
      group.map(({ prompt, tokens }) => Number(tokens.every((move, t) => move === rightMove(prompt, t)))),
    )
    history.push(average(rewards.flat()))
    const batch = groups.flatMap((group, g) =>
      onlinePairs(rewards[g], { pairing: 'all' }).map(({ chosen, rejected }) => {
        const [good, bad] = [group[chosen], group[rejected]]
        const example = { prompt: prompts[g], chosen: good.tokens, rejected: bad.tokens }
        const reference = [good, bad].map(({ logprobs }) =>
          logprobs.reduce((sum, logprob) => sum + logprob, 0),
        )
        return { example, answers: dpo().answers([example])[0], reference }
      }),
    )
    if (withProcess && batch.length > 0) {
      await learnPreferences(judge, dpo({ beta }), batch)
      await moveWeights(judge, { learningRate })
    }
    const tokens = groups.flat().map(({ prompt, tokens: said }) => Int32Array.of(...prompt, ...said))
    const logprobs = withProcess ? await judge.forward(tokens) : []
    const weight = 1 / (groups.flat().length * length)
    const rows = groups.flatMap((group, g) => {
      const ofEpisode = grpoAdvantages(rewards[g])
      const ofMoves = withProcess ? moveAdvantages(group, logprobs.slice(8 * g, 8 * g + 8)) : []
      return group.map((answer, i) => {
        const advantage = Array.from(answer.tokens, (_, t) => ofEpisode[i] + (ofMoves[i]?.[t] ?? 0))
        return creditedSequence(answer, { advantage, weight })
      })
    })
    const loss = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } as const
    await applyUpdate(policy, { sequences: rows, loss }, { learningRate })
  }
  await Promise.all([policy.dispose(), judge.dispose()])
  return average(history.slice(-5))
}

export default definePaper({
  id: 'oprl',
  title: 'Online Process Reward Leanring for Agentic Reinforcement Learning',
  theme: 'rewards',
  claim:
    'An implicit process reward model, trained by DPO on whole trajectories in turn with the policy, gives advantages to steps that make group-relative learning from outcomes faster.',
  arms: {
    oprl: (run) => success(run, true, 0.004),
    'outcome-only': (run) => success(run, false, 0.008),
  },
  metric: 'share of series of six moves that are right, mean over the last five updates',
  budget: { imitation: 80, steps: 40 },
  quick: { imitation: 2, steps: 2 },
  pairing: 'seed',
  effect: { better: 'oprl', than: ['outcome-only'], atLeast: 0.1 },
  simplifications: [
    'series of moves on a small transformer stand for web shops and Sokoban; a step is a token',
  ],
})
