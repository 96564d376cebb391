import { definePaper, mean } from 'agoge/evaluation'
import type { ArmRun } from 'agoge/evaluation'
import { createLocalBackend, smallConfig } from 'agoge/unstable/language'
import type { LocalBackend } from 'agoge/unstable/language'
import { createRandom } from 'agoge/unstable/random'
import { imitationSequence, sampleAnswers } from 'agoge/unstable/rollout'
import { dpo, trainPreferences } from 'agoge/unstable/training/preference'
import type { PreferenceMethod, PreferencePair } from 'agoge/unstable/training/preference'

/** Words: begin, end, filler, then digits. Questions are two digits below 4; an answer is their sum, filler at will, the end. */
const [begin, end, filler, digit] = [0, 1, 2, 3]
const prompts = Array.from({ length: 16 }, (_, i) => Int32Array.of(begin, digit + (i >> 2), digit + (i % 4)))
const sumOf = (prompt: Int32Array): number => prompt[1] + prompt[2] - digit
const config = { ...smallConfig, vocab_size: 10, hidden_size: 32, intermediate_size: 64 }
const size = {
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  max_position_embeddings: 32,
}
const sampling = { maxTokens: 6, stop: [end], seed: 0 }

/** Imitates answers of which 60% are right, with up to three words of filler after them. */
async function imitator({ seed, budget }: ArmRun): Promise<LocalBackend> {
  const backend = createLocalBackend({ config: { ...config, ...size }, seed, threads: 1 })
  const random = createRandom('imitate', seed)
  for (let step = 0; step < budget.imitation; step++) {
    const rows = Array.from({ length: 48 }, () => {
      const prompt = random.pick(prompts)
      const said = random.next() < 0.6 ? sumOf(prompt) : digit + random.int(7)
      const tokens = Int32Array.of(said, ...Array<number>(random.int(4)).fill(filler), end)
      return imitationSequence({ prompt, tokens }, { weight: 1 / 150 })
    })
    await backend.forwardBackward(rows, { name: 'cross_entropy' })
    await backend.optimStep({ learningRate: 0.01 })
  }
  return backend
}

/** A right answer against a wrong one of the model's own to each question, the longest against the shortest. */
async function pairsOf(backend: LocalBackend, seed: number): Promise<PreferencePair[]> {
  const groups = await sampleAnswers(backend, prompts, { ...sampling, name: `pairs/${seed}`, groupSize: 32 })
  return groups.flatMap((group, g) => {
    const ended = group
      .filter(({ finish }) => finish === 'stop')
      .sort((a, b) => b.tokens.length - a.tokens.length)
    const right = ended.filter(({ tokens }) => tokens[0] === sumOf(prompts[g])).slice(0, 4)
    const wrong = ended
      .filter(({ tokens }) => tokens[0] !== sumOf(prompts[g]))
      .reverse()
      .slice(0, 4)
    const count = Math.min(right.length, wrong.length)
    return right
      .slice(0, count)
      .map(({ tokens }, i) => ({ prompt: prompts[g], chosen: tokens, rejected: wrong[i].tokens }))
  })
}

/** Share of answers that are right and come to an end within six words. */
async function accuracy(run: ArmRun, method?: PreferenceMethod<PreferencePair>): Promise<number> {
  const backend = await imitator(run)
  if (method !== undefined) {
    const examples = await pairsOf(backend, run.seed)
    const course = { steps: run.budget.steps, batch: 32, learningRate: 0.002, final: 1, seed: run.seed }
    await trainPreferences({ backend, method, examples, validation: examples, ...course })
  }
  const answers = await sampleAnswers(backend, prompts, { ...sampling, name: 'test', groupSize: 32 })
  await backend.dispose()
  return mean(
    answers
      .flat()
      .map(({ prompt, tokens, finish }) => Number(finish === 'stop' && tokens[0] === sumOf(prompt))),
  )
}

export default definePaper({
  id: 'offline-rl-for-reasoning',
  title: 'Exploring the Potential of Offline RL for Reasoning in LLMs: A Preliminary Study',
  theme: 'reasoning',
  claim:
    'Learning from preferences between own answers improves on imitation, and where right answers happen to be longer, DPO that is desensitised to length keeps answers short where plain DPO draws them out.',
  arms: {
    'ld-dpo': (run) => accuracy(run, dpo({ lengthWeight: 0.5 })),
    dpo: (run) => accuracy(run, dpo()),
    imitation: (run) => accuracy(run),
  },
  metric: 'share of answers that are right and end within six words',
  seeds: 12,
  budget: { imitation: 120, steps: 80 },
  quick: { imitation: 3, steps: 2 },
  expect: { better: 'ld-dpo', than: ['dpo', 'imitation'] },
  standIns: [
    'a transformer of 10 thousand parameters and sums of two digits stand for language models and mathematics',
    'that right answers are longer is made so in the choice of pairs',
  ],
})
