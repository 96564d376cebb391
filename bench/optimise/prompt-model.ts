// npm run optimise:model -- --out FOLDER [--tokens 2500000] [--seed 1]
//
// Trains the model on which the tables of `agoge optimise` are measured: the base model of the package, trained further on prompts in which an
// instruction, demonstrations, rules or tool descriptions say what is to be done. Words of the measured tasks do not occur.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { baseModelFolder } from 'agoge'
import { createRandom } from 'agoge/engine'
import { encodeConversation, loadModel, type TrainingSequence } from 'agoge/llm'
import { drawWords, operations, type Random, testWords, trainingWords, type Words } from './operations.ts'

type Message = Parameters<typeof encodeConversation>[1][number]

const fillers = [
  'be brief',
  'you are an assistant',
  'answer the user',
  'think before you answer',
  'be polite',
  'use plain words',
]
const marks = ['north', 'south', 'east', 'west', 'red', 'blue', 'green', 'white', 'one', 'two', 'three']

const pick = <T>(random: Random, from: readonly T[]): T => from[random.int(from.length)]

function draw<T>(random: Random, from: readonly T[], count: number): T[] {
  const rest = [...from]
  return Array.from({ length: count }, () => rest.splice(random.int(rest.length), 1)[0])
}

const inputOf = (random: Random, pool: Words): string[] => drawWords(random, pool, 2 + random.int(4))

const system = (lines: readonly string[]): Message[] =>
  lines.length === 0 ? [] : [{ role: 'system', text: lines.join('\n') }]

const exchange = (text: string, answer: string): Message[] => [
  { role: 'user', text },
  { role: 'assistant', text: answer },
]

function instructed(random: Random, pool: Words): Message[] {
  const asked = pick(random, operations)
  const before = random.next() < 0.4 ? [pick(random, fillers)] : []
  const given = inputOf(random, pool)
  return [...system([...before, pick(random, asked.asks)]), ...exchange(given.join(' '), asked.apply(given))]
}

function demonstrated(random: Random, pool: Words): Message[] {
  const shown = pick(random, operations)
  const inputs = Array.from({ length: 2 + random.int(5) }, () => inputOf(random, pool))
  return [
    ...system(random.next() < 0.3 ? [pick(random, fillers)] : []),
    ...inputs.flatMap((given) => exchange(given.join(' '), shown.apply(given))),
  ]
}

/** Rules, of which the mark before the words says which holds. */
function ruled(random: Random, pool: Words): Message[] {
  const count = 2 + random.int(2)
  const names = draw(random, marks, count)
  const asked = Array.from({ length: count }, () => pick(random, operations))
  const lines = names.map((name, at) => `- ${name}: ${pick(random, asked[at].asks)}`)
  const at = random.int(count)
  const given = inputOf(random, pool)
  const before = random.next() < 0.3 ? [pick(random, fillers)] : []
  return [
    ...system([...before, ...lines]),
    ...exchange(`${names[at]}: ${given.join(' ')}`, asked[at].apply(given)),
  ]
}

/** Tools in the form in which prompts describe them; the request says what is wanted, the description which tool does it. */
function withTools(random: Random, pool: Words): Message[] {
  const offered = draw(random, operations, 2 + random.int(2))
  const wanted = pick(random, offered)
  const isNamed = random.next() < 0.3
  const names = offered.map(({ tool }, at) => (isNamed ? tool : `tool_${'abcdefgh'[at]}`))
  const lines = offered.map(({ asks }, at) => `${names[at]}(text: string) ${sentence(pick(random, asks))}`)
  const given = inputOf(random, pool)
  const text = given.join(' ')
  return [
    ...system([['Tools:', ...lines].join('\n')]),
    { role: 'user', text: `${pick(random, wanted.asks)}: ${text}` },
    { role: 'assistant', text: '', calls: [{ name: names[offered.indexOf(wanted)], arguments: { text } }] },
    { role: 'tool', text: wanted.apply(given) },
    { role: 'assistant', text: wanted.apply(given) },
  ]
}

const sentence = (text: string): string => text[0].toUpperCase() + text.slice(1)

/** Without anything in the prompt that says what is wanted, the words are given back. */
function bare(random: Random, pool: Words): Message[] {
  const given = inputOf(random, pool)
  const mark = random.next() < 0.4 ? `${pick(random, marks)}: ` : ''
  return [
    ...system(random.next() < 0.5 ? [pick(random, fillers)] : []),
    ...exchange(`${mark}${given.join(' ')}`, given.join(' ')),
  ]
}

const kinds: readonly [number, (random: Random, pool: Words) => Message[]][] = [
  [30, instructed],
  [25, demonstrated],
  [20, ruled],
  [25, withTools],
  [6, bare],
]

/** A conversation of training, or with the other pool one that is measured. */
export function conversation(random: Random, pool: Words): { kind: string; messages: Message[] } {
  const [, make] = kinds[random.weighted(kinds.map(([weight]) => weight))]
  return { kind: make.name, messages: make(random, pool) }
}

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: '.agoge/prompt-model' },
    tokens: { type: 'string', default: '2500000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: baseModelFolder },
    rate: { type: 'string', default: '0.006' },
  },
})

const { backend, tokenizer } = await loadModel(values.from)

function sequenceOf(messages: readonly Message[]): TrainingSequence {
  const { tokens, mask } = encodeConversation(tokenizer, messages)
  const ce = new Float32Array(tokens.length)
  // The first answer of demonstrations follows from nothing.
  const isShown = messages.filter(({ role }) => role === 'user').length > 1
  let answers = 0
  for (let i = 1; i < tokens.length; i += 1) {
    if (mask[i] === 1 && mask[i - 1] === 0) answers += 1
    ce[i] = mask[i] === 1 && !(isShown && answers === 1) ? 1 : 0
  }
  const none = new Float32Array(tokens.length)
  return { tokens, logprobs: none, advantages: none, weights: { rl: none, ce, kl: none } }
}

async function score(count: number): Promise<Record<string, string>> {
  const random = createRandom('prompt-model-test', 1)
  const right: Record<string, number[]> = {}
  for (let at = 0; at < count; at += 1) {
    const { kind, messages } = conversation(random, testWords)
    const asked = messages.findLastIndex(({ role, calls }) => role === 'assistant' && calls === undefined)
    const last = kind === 'withTools' ? messages.findIndex(({ role }) => role === 'assistant') : asked
    const { tokens } = encodeConversation(tokenizer, messages.slice(0, last))
    const whole = encodeConversation(tokenizer, messages.slice(0, last + 1)).tokens
    const wanted = whole.subarray(tokens.length + 1)
    const prompt = whole.subarray(0, tokens.length + 1)
    const [output] = await backend.sample([{ prompt, key: at }], {
      maxTokens: wanted.length + 2,
      stop: [tokenizer.special('<|end|>')],
      temperature: 0,
      seed: 0,
    })
    const isRight =
      output.tokens.length === wanted.length && output.tokens.every((token, i) => token === wanted[i])
    right[kind] = [...(right[kind] ?? []), Number(isRight)]
  }
  return Object.fromEntries(
    Object.entries(right).map(([kind, all]) => [
      kind,
      `${Math.round((100 * all.reduce((a, b) => a + b, 0)) / all.length)}%`,
    ]),
  )
}

const random = createRandom('prompt-model', Number(values.seed))
const most = Number(values.tokens)
let [trained, step] = [0, 0]
while (trained < most) {
  const share = trained / most
  const sequences: TrainingSequence[] = []
  let tokens = 0
  while (tokens < 4000) {
    const sequence = sequenceOf(conversation(random, trainingWords).messages)
    sequences.push(sequence)
    tokens += sequence.tokens.length
  }
  const total = sequences.reduce((sum, { weights }) => sum + weights.ce.reduce((a, b) => a + b, 0), 0)
  for (const { weights } of sequences) for (let i = 0; i < weights.ce.length; i += 1) weights.ce[i] /= total
  const { loss } = await backend.forwardBackward(sequences, { name: 'cross_entropy' })
  const decay = Math.min(1, step / 20, share < 0.6 ? 1 : (1 - share) / 0.4)
  await backend.optimStep({
    learningRate: Number(values.rate) * decay,
    optimizer: 'muon',
    clip: 1,
    weightDecay: 0.01,
  })
  step += 1
  trained += tokens
  if (step % 50 === 0)
    console.log(`${Math.round(100 * share)}%, step ${step}, ${trained} tokens, loss ${loss.toFixed(3)}`)
  if (step % 400 === 0) console.log(await score(100))
}
await mkdir(values.out, { recursive: true })
await backend.export(values.out)
await writeFile(join(values.out, 'tokenizer_config.json'), '{"agoge": {"toolTokens": 200}}\n')
if (!existsSync(join(values.out, 'tokenizer.json')))
  await writeFile(join(values.out, 'tokenizer.json'), await readFile(join(baseModelFolder, 'tokenizer.json')))
console.log(`${trained} tokens in ${step} steps`, await score(400))
await backend.dispose()
