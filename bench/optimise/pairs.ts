import { generateText, jsonSchema, stepCountIs, tool } from 'ai'
import { type AgogeConfig, type Scorer, defineConfig, type FileTask, run } from 'agoge'
import { createRandom } from 'agoge/engine'
import { chosen, type Chosen, drawChosen } from './chosen-operations.ts'
import { drawWords, operation, type Random, testWords } from './operations.ts'
import { scriptedProposer } from './scripted-proposer.ts'

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

/** Its own for each pair, so that what is proposed for one says nothing of what is proposed for another. The first two measurements had the seed itself. */
const seedOf = (name: string, seed: number): number =>
  createRandom('optimise-search', name, seed).int(2 ** 31)

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
      optimise: { proposer: scriptedProposer, seed: seedOf(name, seed) },
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
      optimise: { proposer: scriptedProposer, seed: seedOf(name, seed) },
    }) as unknown as AgogeConfig
  },
})

/** The model of prompt-model.ts, an earlier state of it, and the model of the package. */
interface Models {
  reader: string
  weaker: string
  base: string
}

/** Ten of the development of the first two measurements, and the ten of these; those that were drawn: twenty for development, and thirty. */
export const pairSets = ['tried', 'reported', 'drawn-tried', 'drawn'] as const

/** The pairs of a set. */
export function pairsWith(models: Models, which: (typeof pairSets)[number]): Pair[] {
  if (which === 'tried' || which === 'reported') return tenPairs(models, chosen[which])
  const all = which === 'drawn' ? drawChosen().slice(2) : drawChosen().slice(0, 2)
  return all.flatMap((of, at) => tenPairs(models, of, ` ${at + 1}`))
}

/** One pair of each kind, but for two with a remark in the prompt and two with two models. `end` tells names of several tens apart. */
function tenPairs({ reader, weaker, base }: Models, of: Chosen, end = ''): Pair[] {
  const models = [reader]
  const said = (name: string, system: string): Pair =>
    plain(`${name} (${system})${end}`, `one operation; the agent says: ${system}`, {
      kinds: [unsaid(name)],
      models,
      system,
    })
  return [
    plain(`${of.plain}${end}`, 'one operation, and nothing says which', {
      kinds: [unsaid(of.plain)],
      models,
    }),
    said(of.brief, 'be brief'),
    said(of.thinking, 'think before you answer'),
    plain(`${of.weaker} (weaker)${end}`, 'one operation, with the weaker model', {
      kinds: [unsaid(of.weaker)],
      models: [weaker],
    }),
    plain(`2 rules${end}`, 'a mark says which of 2 operations is wanted', {
      kinds: of.rules.map(([mark, does]) => unsaid(does, `${mark}: `)),
      models,
    }),
    withTools(`misdescribed tools${end}`, 'three tools, described as each other', {
      offered: of.misdescribed.map(([name, described]) => {
        const [text] = operation(described).asks
        return { operation: name, description: text[0].toUpperCase() + text.slice(1) }
      }),
      models,
    }),
    plain(`wrong model${end}`, 'the agent asks for it, but its own model has not learned that; another has', {
      kinds: [unsaid(of.wrongModel)],
      models: [base, reader],
      system: operation(of.wrongModel).asks[0],
    }),
    ...of.twoModels.map((name, at) =>
      plain(`two models, ${name}${end}`, 'two kinds of requests, each of which another model does', {
        kinds: [choosing, unsaid(name)],
        models: at === 0 ? [base, reader] : [reader, base],
        system: operation(name).asks[0],
      }),
    ),
    plain(`warm${end}`, 'the right instruction, at temperature 1', {
      kinds: [unsaid(of.warm)],
      models,
      system: operation(of.warm).asks[0],
      temperature: 1,
    }),
  ]
}
