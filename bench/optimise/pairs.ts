import { generateText, jsonSchema, stepCountIs, tool } from 'ai'
import { type AgogeConfig, type Scorer, defineConfig, type FileTask, type ProposalRequest, run } from 'agoge'
import { createRandom } from 'agoge/engine'
import { drawWords, operation, operations, type Random, testWords } from './operations.ts'

/** A set of tasks with an agent and its models, for which setups are searched. */
export interface Pair {
  name: string
  about: string
  config: (seed: number) => AgogeConfig
}

/** The answer and nothing else: `answerMatches` accepts words around it, such as all words where the first is wanted. */
const exact: Scorer<string> = ({ given, output }) => Number(output.trim() === given.expected?.answer)

/** Numbers of tasks for training, selection and test. */
const sizes = { train: 24, validation: 30, test: 100 } as const

/** What a search may use: so little that no lever can try all that it has. With tools, a trial has more calls and longer prompts. */
const tokens = { plain: 25_000, models: 70_000, tools: 200_000 }

type Kind = (random: Random) => { kind: string; prompt: string; answer: string }

function tasksOf(name: string, seed: number, kinds: readonly Kind[]): FileTask[] {
  const random = createRandom('optimise-tasks', name, seed)
  const known = new Set<string>()
  return (Object.keys(sizes) as (keyof typeof sizes)[]).flatMap((split) =>
    Array.from({ length: sizes[split] }, (_, at): FileTask => {
      for (;;) {
        const { kind, prompt, answer } = kinds[at % kinds.length](random)
        // No prompt is in two splits.
        if (known.has(prompt)) continue
        known.add(prompt)
        return { id: `${split}-${at}`, split, kind, prompt, expected: { answer } }
      }
    }),
  )
}

/** Words on which an operation is to be done; the prompt does not say which. */
const unsaid =
  (name: string, mark = ''): Kind =>
  (random) => {
    const words = drawWords(random, testWords, 2 + random.int(4))
    return { kind: name, prompt: `${mark}${words.join(' ')}`, answer: operation(name).apply(words) }
  }

/** The prompt says what is wanted. */
const asked =
  (name: string): Kind =>
  (random) => {
    const words = drawWords(random, testWords, 2 + random.int(4))
    const { asks, apply } = operation(name)
    return {
      kind: name,
      prompt: `${asks[random.int(asks.length)]}: ${words.join(' ')}`,
      answer: apply(words),
    }
  }

const choosing: Kind = (random) => {
  const [given, yes, no] = drawWords(random, testWords, 3)
  const seen = random.next() < 0.5 ? given : drawWords(random, testWords, 1)[0]
  return {
    kind: 'choose',
    prompt: `if it says "${given}", ${yes}, otherwise ${no}.\n${seen}`,
    answer: seen === given ? yes : no,
  }
}

const vague = [
  'Be brief.',
  'Think step by step.',
  'You are a helpful assistant.',
  'Answer correctly.',
  'Be polite.',
  'Use plain words.',
]

/**
 * Proposes texts without a language model: this script stands for a large model, which cannot be had here. It knows none of the tasks: it draws from
 * sentences on all operations, and from vague ones.
 */
export function scriptedProposer({ lever, count, seed, tools }: ProposalRequest): string[] {
  const random = createRandom('scripted-proposer', lever, seed)
  const operationText = (): string => {
    const { asks } = operations[random.int(operations.length)]
    return asks[random.int(asks.length)]
  }
  return Array.from({ length: count }, () => {
    if (lever === 'playbook') return `${['north', 'south'][random.int(2)]}: ${operationText()}`
    if (lever !== 'tool-descriptions')
      return random.next() < 0.3 ? vague[random.int(vague.length)] : operationText()
    const names = tools.map((line) => /^[\w-]+/.exec(line)?.[0] ?? '')
    const text = operationText()
    return JSON.stringify({
      [names[random.int(names.length)]]: { description: text[0].toUpperCase() + text.slice(1) },
    })
  })
}

interface Settings {
  kinds: readonly Kind[]
  models: Parameters<typeof run>[0][]
  system?: string
  temperature?: number
}

const plain = (name: string, about: string, { kinds, models, system, temperature = 0 }: Settings): Pair => ({
  name,
  about,
  config: (seed) =>
    defineConfig({
      agent: async (task, { model, signal }) =>
        (
          await generateText({
            model,
            prompt: task.prompt,
            temperature,
            abortSignal: signal,
            maxRetries: 0,
            ...(system !== undefined && { system }),
          })
        ).text,
      tasks: tasksOf(name, seed, kinds),
      score: exact,
      models: models.map(run),
      maxOutputTokens: 32,
      budget: { tokens: models.length > 1 || temperature > 0 ? tokens.models : tokens.plain },
      optimise: { proposer: scriptedProposer, seed },
    }) as unknown as AgogeConfig,
})

/** An agent with a tool for each operation. The model reads their descriptions. */
const withTools = (
  name: string,
  about: string,
  { offered, models }: { offered: readonly { operation: string; description: string }[]; models: string[] },
): Pair => ({
  name,
  about,
  config: (seed) => {
    const inputSchema = jsonSchema<{ text: string }>({
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    })
    const tools = Object.fromEntries(
      offered.map(({ operation: does, description }, at) => [
        `tool_${'abcd'[at]}`,
        {
          mode: 'run' as const,
          tool: tool({
            description,
            inputSchema,
            execute: ({ text }) => operation(does).apply(text.split(' ')),
          }),
        },
      ]),
    )
    return defineConfig({
      agent: async (task, { model, tools: given, signal }) =>
        (
          await generateText({
            model,
            tools: given,
            prompt: task.prompt,
            temperature: 0,
            abortSignal: signal,
            maxRetries: 0,
            stopWhen: stepCountIs(3),
          })
        ).text,
      tools,
      tasks: tasksOf(
        name,
        seed,
        offered.map(({ operation: does }) => asked(does)),
      ),
      score: exact,
      models: models.map(run),
      maxOutputTokens: 48,
      budget: { tokens: tokens.tools },
      optimise: { proposer: scriptedProposer, seed },
    }) as unknown as AgogeConfig
  },
})

/** The ten pairs. `reader` is the model of prompt-model.ts, `weaker` an earlier state of it, `base` the model of the package. */
export function pairsWith({
  reader,
  weaker,
  base,
}: {
  reader: string
  weaker: string
  base: string
}): Pair[] {
  const models = [reader]
  return [
    plain('first', 'the first word is wanted, and nothing says so', { kinds: [unsaid('first')], models }),
    plain('list', 'a JSON list is wanted; the agent says: be brief', {
      kinds: [unsaid('list')],
      models,
      system: 'be brief',
    }),
    plain('ends', 'the first and the last word; the agent says: think before you answer', {
      kinds: [unsaid('ends')],
      models,
      system: 'think before you answer',
    }),
    plain('two rules', 'a mark says which of two operations is wanted', {
      kinds: [unsaid('first', 'north: '), unsaid('dashes', 'south: ')],
      models,
    }),
    plain('count, weaker', 'the number of words, with the weaker model', {
      kinds: [unsaid('count')],
      models: [weaker],
    }),
    withTools('bare tools', 'three tools without descriptions', {
      offered: ['first', 'dashes', 'count'].map((name) => ({ operation: name, description: 'Does it' })),
      models,
    }),
    withTools('swapped tools', 'three tools, two of which are described as each other', {
      offered: [
        { operation: 'last', description: 'Put commas between the words' },
        { operation: 'commas', description: 'Give the last word' },
        { operation: 'list', description: 'Give the words as a json list' },
      ],
      models,
    }),
    plain('wrong model', 'the agent asks for brackets; its own model has not learned that, another has', {
      kinds: [unsaid('mark')],
      models: [base, reader],
      system: operation('mark').asks[0],
    }),
    plain('two models', 'two kinds of requests, each of which another model does', {
      kinds: [choosing, unsaid('commas')],
      models: [base, reader],
      system: operation('commas').asks[0],
    }),
    plain('warm', 'the right instruction, at temperature 1', {
      kinds: [unsaid('drop last')],
      models,
      system: operation('drop last').asks[0],
      temperature: 1,
    }),
  ]
}
