import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task, TaskSource, ToolEnvironment } from '../../agent/types.ts'
import { supervised } from '../../algorithm/losses/imitation.ts'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { createTokenizer } from '../../tokenizer/tokenizer.ts'
import { smallConfig } from '../../model/config.ts'
import { specialTokens } from '../../tokenizer/template.ts'
import { trainTokenizer } from '../../tokenizer/bpe-train.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { demonstrate } from '../../rollout/collect.ts'
import { expertIteration } from './expert-iteration.ts'

const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Which letter comes next? */
const tasks: TaskSource = {
  kinds: ['next'],
  task({ split, seed }): Task {
    const at = createRandom(seed, 'letters', split).int(letters.length)
    return question(`${split}-${seed}`, letters[at], letters[(at + 1) % letters.length], split, seed)
  },
}

/** The task with its answer. */
function hint(task: Task): Task {
  const answer = String(task.context['answer'])
  return question(`${task.id}-hint`, `${answer}!`, answer, task.split, task.seed)
}

function question(id: string, prompt: string, answer: string, split: Task['split'], seed: number): Task {
  const fixed = { kind: 'next', difficulty: 1 }
  return { id, seed, split, prompt, context: { answer }, plan: () => ({ answer }), ...fixed }
}

const environment: ToolEnvironment = {
  name: 'letters',
  tools: [],
  open: (task) =>
    Promise.resolve({
      specs: [],
      call: () => Promise.resolve({ text: 'error', isError: true }),
      judge: ({ answer }) => Promise.resolve(Number(answer === task.context['answer'])),
      close: () => Promise.resolve(),
    }),
  close: () => Promise.resolve(),
}

const tokenizer = createTokenizer(
  trainTokenizer(['a b c d e f g h !'], { vocabularySize: 8 + 256, specialTokens: [...specialTokens] }),
)
const limits = { turns: 1, deadlineSeconds: 600, toolDeadlineSeconds: 120 }

/** A model trained on half of the letters, and tasks with hints. */
async function beginner(seed: number) {
  const backend = createLocalBackend({
    config: {
      ...smallConfig,
      vocab_size: tokenizer.vocabularySize,
      hidden_size: 32,
      num_hidden_layers: 1,
      num_attention_heads: 2,
      num_key_value_heads: 1,
      intermediate_size: 48,
      max_position_embeddings: 32,
    },
    seed,
    tokenizer,
    threads: 1,
  })
  const all = Array.from({ length: 64 }, (_, i) => tasks.task({ split: 'train', seed: 1000 * seed + i }))
  const shown = [...all.filter(({ prompt }) => prompt < 'e'), ...all.map(hint)]
  const episodes = await demonstrate({ tasks: shown, environment, tokenizer, limits })
  for (let step = 0; step < 40; step++) {
    await backend.forwardBackward(supervised(episodes).sequences, { name: 'cross_entropy' })
    await backend.optimStep({ learningRate: 0.005 })
  }
  return backend
}

const settings = {
  tokenizer,
  environment,
  tasks,
  groups: 32,
  groupSize: 4,
  epochs: 2,
  batch: 8,
  limits,
  maxTokensPerTurn: 4,
  learningRate: 0.005,
  final: 0.3,
}

test('expert iteration raises success, on every seed', async () => {
  for (const seed of [1, 2, 3]) {
    const backend = await beginner(seed)
    const rounds = await expertIteration({ ...settings, backend, rounds: 10, seed })
    expect(rounds[0].success).toBeGreaterThan(0.05)
    const last = (rounds[8].success + rounds[9].success) / 2
    expect(last).toBeGreaterThan(rounds[0].success + 0.2)
    expect(rounds.every(({ kept, hinted }) => kept <= 32 && hinted === 0)).toBe(true)
    await backend.dispose()
  }
})

test('hints solve failed tasks, trained as answers to the original question, and rounds can restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-star-'))
  const backend = await beginner(1)
  await backend.save(join(folder, 'beginner'))
  const seen: string[] = []
  const spied = {
    ...backend,
    forwardBackward: (...given: Parameters<typeof backend.forwardBackward>) => {
      for (const { tokens } of given[0]) seen.push(tokenizer.decode(tokens))
      return backend.forwardBackward(...given)
    },
  }
  const rounds = await expertIteration({
    ...settings,
    backend: spied,
    groupSize: 1,
    rounds: 2,
    hint,
    restartFrom: join(folder, 'beginner'),
  })
  const hinted = rounds[0].hinted + rounds[1].hinted
  expect(hinted).toBeGreaterThan(3)
  expect(rounds[0].kept).toBeGreaterThan(rounds[0].hinted)
  // The selected episodes have the original questions, without the answers.
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.some((text) => text.includes('!'))).toBe(false)
  await backend.dispose()
  rmSync(folder, { recursive: true })
})
