import { createRandom } from '../../../engine/random/index.ts'
import type { Task, TaskSource, ToolEnvironment } from '../../agent/types.ts'
import { grpo } from '../../algorithm/policy-optimisation/presets.ts'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { splitKey } from '../../episode/split.ts'
import { taskReward } from '../../reward/rewards.ts'
import { trainTokenizer } from '../../tokenizer/bpe-train.ts'
import { specialTokens } from '../../tokenizer/template.ts'
import { createTokenizer } from '../../tokenizer/tokenizer.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import type { TrainJobOptions, TrainingPlan } from '../types.ts'

const colours = ['red', 'blue', 'green', 'gold']
const things = ['key', 'coin', 'ring', 'pen']

const text = { type: 'string' } as const
const tools: ToolSpec[] = [
  { name: 'get', inputSchema: { type: 'object', properties: { box: text }, required: ['box'] } },
  {
    name: 'put',
    inputSchema: { type: 'object', properties: { box: text, thing: text }, required: ['box', 'thing'] },
  },
]

/** Boxes by colour with one thing in each. Small, in memory, and real: the state decides what succeeded. */
export function createBoxEnvironment(): ToolEnvironment {
  return {
    name: 'boxes',
    tools,
    open(task) {
      const boxes = new Map(Object.entries(task.context['boxes'] as Record<string, string>))
      const wanted = task.context['wanted'] as { boxes: Record<string, string>; answer: string }
      return Promise.resolve({
        specs: tools,
        call(name, args) {
          const box = String(args['box'])
          if (name === 'put') boxes.set(box, String(args['thing']))
          const found = boxes.get(box)
          const result =
            name === 'put'
              ? { text: 'ok', isError: false }
              : { text: found ?? 'empty', isError: found === undefined }
          return Promise.resolve(result)
        },
        judge({ answer }) {
          const things = Object.entries(wanted.boxes)
          const state =
            things.length === boxes.size && things.every(([box, thing]) => boxes.get(box) === thing)
          const said = answer === wanted.answer
          return Promise.resolve({
            value: Number(state && said),
            parts: { state: Number(state), answer: Number(said) },
          })
        },
        close: () => Promise.resolve(),
      })
    },
    close: () => Promise.resolve(),
  }
}

/** "get red": the answer is what the red box holds. "put pen red": the answer is "ok". */
export const boxTasks: TaskSource = {
  kinds: ['get', 'put'],
  task({ split, seed, kind: taskKind }): Task {
    const random = createRandom(seed, 'boxes', splitKey(split))
    const kind = taskKind ?? random.pick(['get', 'put'])
    const box = random.pick(colours)
    const thing = random.pick(things)
    const boxes = { [box]: random.pick(things) }
    const get = kind === 'get'
    const answer = get ? boxes[box] : 'ok'
    return {
      id: `${kind}-${split}-${seed}`,
      kind: kind,
      seed,
      split,
      prompt: get ? `get ${box}` : `put ${thing} ${box}`,
      difficulty: 1,
      context: { boxes, wanted: { boxes: get ? boxes : { [box]: thing }, answer } },
      plan(results) {
        const last = results.at(-1)
        if (last !== undefined) return { answer: last.text }
        return {
          call: get ? { name: 'get', arguments: { box } } : { name: 'put', arguments: { box, thing } },
        }
      },
    }
  },
}

/** Texts that a tokenizer for this environment can be trained on. */
const boxTexts: string[] = [
  ...colours.map((box) => `get ${box} {"name":"get","arguments":{"box":"${box}"}}`),
  ...things.map(
    (thing) => `put ${thing} red {"name":"put","arguments":{"box":"red","thing":"${thing}"}} ok empty`,
  ),
  'error: invalid call',
]

/** A whole job that takes seconds: a transformer of a few thousand parameters learns to open boxes. */
export function boxJob(path: string, changes: Partial<TrainingPlan> = {}): TrainJobOptions {
  const tokenizer = createTokenizer(
    trainTokenizer(boxTexts, { vocabularySize: 8 + 256 + 48, specialTokens: [...specialTokens] }),
  )
  const plan: TrainingPlan = {
    demonstrations: { get: 48, put: 48 },
    warmStart: {
      learningRate: 0.02,
      optimizer: 'muon',
      epochs: 8,
      batch: 12,
      validateEvery: 16,
      patience: 4,
    },
    reinforcement: {
      learningRate: 0.003,
      steps: 6,
      groups: 4,
      groupSize: 6,
      temperature: 1,
      validateEvery: 4,
    },
    supervised: { learningRate: 0.003, batch: 12, validateEvery: 4, patience: 2 },
    tasks: { validation: 8, test: 12, unseenParaphrases: 4 },
    checkpointEvery: 2,
    maxTokensPerTurn: 32,
    limits: { turns: 3, deadlineSeconds: 600, toolDeadlineSeconds: 120 },
    ...changes,
  }
  return {
    command: 'test',
    folder: { path },
    seed: 5,
    environment: createBoxEnvironment(),
    tasks: boxTasks,
    tokenizer,
    backend: () =>
      Promise.resolve(
        createLocalBackend({
          config: {
            vocab_size: tokenizer.vocabularySize,
            hidden_size: 32,
            num_hidden_layers: 1,
            num_attention_heads: 2,
            num_key_value_heads: 2,
            intermediate_size: 64,
            rope_theta: 10_000,
            rms_norm_eps: 1e-5,
            tie_word_embeddings: true,
            max_position_embeddings: 256,
          },
          seed: 1,
          tokenizer,
          threads: 1,
        }),
      ),
    reward: taskReward({ perCall: -0.02, perInvalidCall: -0.1 }),
    algorithm: grpo({ kl: 0, clipHigh: 0.28, aggregation: { mode: 'token-mean' } }),
    plan,
  }
}
