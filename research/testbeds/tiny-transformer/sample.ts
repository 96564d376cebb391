import type { Episode, EpisodeNode, EpisodeSample } from 'agoge/llm'
import type { TextModel } from './text-model.ts'
import type { TinyQuestion, TinyTask, TrainingJudge } from './tasks.ts'

/** What the policy wrote at one turn, after what it had read. */
export interface TinyTurn {
  /** What it read since it wrote last: the prompt, or the feedback. */
  read: Int32Array
  tokens: Int32Array
  logprobs: Float32Array
  text: string
}

/** The policy's answer to a question, in one turn or two. */
export interface TinyAnswer {
  question: TinyQuestion
  turns: readonly TinyTurn[]
  /** The last turn's text, which is judged. */
  text: string
  /** By the judge of training; 0 if the answer was cut off. */
  reward: number
  /** Whether the last turn reached the limit of tokens. */
  cut: boolean
  temperature: number
}

export interface SampleSettings {
  /** Key of the random numbers, together with the seed; different for each call. */
  name: string
  seed: number
  /** Answers to each question, or to the one with this index. */
  groupSize: number | ((index: number) => number)
  /** Default: 1; 0 = greedy. */
  temperature?: number
  /** Default: the true judge. */
  judge?: TrainingJudge
  /** What the policy reads. Default: the question's prompt. */
  shown?: (question: TinyQuestion, index: number) => string
}

/** Samples a group of answers to each question. Wrong first answers of a task with two turns get feedback and a second one. */
export async function sampleTiny(
  model: TextModel,
  task: TinyTask,
  questions: readonly TinyQuestion[],
  settings: SampleSettings,
): Promise<TinyAnswer[][]> {
  const { groupSize, shown = ({ prompt }: TinyQuestion) => prompt, name } = settings
  const sizeOf = typeof groupSize === 'number' ? () => groupSize : groupSize
  const asked = questions.flatMap((question, i) => {
    const read = model.symbols.encode(shown(question, i))
    return Array.from({ length: sizeOf(i) }, (_, member) => ({
      question,
      read,
      before: [] as TinyTurn[],
      key: `${name}/${i}/${member}`,
    }))
  })
  const answers = await answerAll(model, task, asked, settings)
  if (task.turns === 2) {
    const again = answers.flatMap(({ reward, cut }, at) => (reward < 1 && !cut ? [at] : []))
    const second = await answerAll(
      model,
      task,
      again.map((at) => ({
        question: answers[at].question,
        read: model.symbols.encode(task.feedback(answers[at].question, answers[at].text)),
        before: answers[at].turns,
        key: `${asked[at].key}/second`,
      })),
      settings,
    )
    for (const [i, at] of again.entries()) answers[at] = second[i]
  }
  let from = 0
  return questions.map((_, i) => answers.slice(from, (from += sizeOf(i))))
}

interface Asked {
  question: TinyQuestion
  read: Int32Array
  before: readonly TinyTurn[]
  key: string
}

async function answerAll(
  { backend, symbols }: TextModel,
  { maxTokens }: TinyTask,
  asked: readonly Asked[],
  settings: SampleSettings,
): Promise<TinyAnswer[]> {
  if (asked.length === 0) return []
  const { seed, temperature = 1, judge = (question, answer) => question.judge(answer) } = settings
  const outputs = await backend.sample(
    asked.map(({ read, before, key }) => ({ prompt: joined([...before, { read }]), key })),
    { seed, maxTokens, temperature, stop: [symbols.end] },
  )
  return asked.map(({ question, read, before, key }, i) => {
    const { tokens, logprobs, finish } = outputs[i]
    const text = symbols.decode(tokens)
    const cut = finish !== 'stop'
    const reward = cut ? 0 : judge(question, text, `${seed}/${key}`)
    return { question, turns: [...before, { read, tokens, logprobs, text }], text, reward, cut, temperature }
  })
}

/** Everything that was read and written, in order. */
export function joined(turns: readonly (Pick<TinyTurn, 'read'> & { tokens?: Int32Array })[]): Int32Array {
  return Int32Array.from(turns.flatMap(({ read, tokens = [] }) => [...read, ...tokens]))
}

/** The library's record of an answer, from which its algorithms learn. */
export function episodeOf(answer: TinyAnswer, id: string): Episode {
  const nodes: EpisodeNode[] = []
  const samples: EpisodeSample[] = []
  for (const { read, tokens, logprobs, text } of answer.turns) {
    const at = nodes.length
    const parent = at === 0 ? null : at - 1
    nodes.push({ id: at, parent, agent: 'main', role: 'user', text: '', tokens: read })
    nodes.push({ id: at + 1, parent: at, agent: 'main', role: 'assistant', text, tokens })
    samples.push({
      path: Array.from({ length: at + 1 }, (_, i) => i),
      output: at + 1,
      logprobs,
      mask: new Uint8Array(tokens.length).fill(1),
      weightVersion: 0,
      sampling: { temperature: answer.temperature },
      trainable: true,
    })
  }
  const { prompt, depth } = answer.question
  const sampledTokens = answer.turns.reduce((sum, { tokens }) => sum + tokens.length, 0)
  return {
    schema: 1,
    id,
    group: prompt,
    environment: 'tiny-transformer',
    task: prompt,
    kind: `depth ${depth}`,
    seed: 0,
    context: {},
    status: 'ok',
    ending: answer.cut ? 'token-limit' : 'answered',
    nodes,
    samples,
    rewards: [],
    success: answer.reward > 0,
    usage: {
      promptTokens: joined(answer.turns).length - sampledTokens,
      sampledTokens,
      calls: 0,
      invalidCalls: 0,
    },
    timing: { seconds: 0, toolSeconds: 0 },
  }
}
