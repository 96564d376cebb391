import { AgogeError } from '../../error.ts'
import type { Act, Actor } from '../agent/types.ts'
import type { Unscored } from '../episode/score.ts'

/** The one method of a model object of the AI SDK (`openai('…')`, `anthropic('…')`) that a judge needs. */
interface GeneratingModel {
  doGenerate: (options: {
    prompt: { role: 'user'; content: { type: 'text'; text: string }[] }[]
    abortSignal?: AbortSignal
  }) => PromiseLike<{ content: readonly { type: string; text?: string }[] }>
}

/** Anything that can answer a question: an actor, a model object of the AI SDK, or a function from question to answer. */
export type JudgeModel =
  | Actor
  | GeneratingModel
  | ((question: string, options: { signal: AbortSignal }) => string | Promise<string>)

/** How often a judge was asked in this process. */
export interface JudgeUsage {
  /** Questions sent to the model, including repeats. */
  calls: number
  /** Questions that failed or came back without a readable score. */
  failures: number
  /** Episodes or groups without a score after all attempts. */
  masked: number
}

/** A judge with its attempts and counts. */
export interface Asker {
  usage: () => JudgeUsage
  /** `read` parses the answer and returns `null` if it is unreadable. `key` keys the random stream of a local model. */
  ask: <R>(
    question: string,
    key: string,
    read: (answer: string) => R | null,
    signal: AbortSignal,
  ) => Promise<R | Unscored>
}

/** Asks a model, repeats the question if the answer is unreadable, and counts the calls. What `say` throws ends it. */
export function createAsker(say: Speaker, attempts = 2): Asker {
  const usage: JudgeUsage = { calls: 0, failures: 0, masked: 0 }
  return {
    usage: () => ({ ...usage }),
    async ask(question, key, read, signal) {
      let reason = ''
      for (let attempt = 0; attempt < attempts; attempt++) {
        signal.throwIfAborted()
        usage.calls++
        const said = await say(question, attempt === 0 ? key : `${key}/${attempt}`, signal)
        const found = said instanceof Error ? null : read(said)
        if (found !== null) return found
        usage.failures++
        reason = said instanceof Error ? said.message : `no score in what the judge said: ${said.slice(-100)}`
      }
      usage.masked++
      return { value: null, reason: `the judge failed: ${reason}` }
    },
  }
}

/** Says what a model answers, or returns why it gave no answer. `key` keys the random stream of a local model. */
export type Speaker = (question: string, key: string, signal: AbortSignal) => Promise<string | Error>

/** The answers of any kind of judge. */
export function speakerOf(judge: JudgeModel): Speaker {
  if (typeof judge !== 'function' && 'act' in judge) return batchingSpeaker(judge)
  const generate =
    typeof judge === 'function'
      ? judge
      : async (text: string, { signal }: { signal: AbortSignal }): Promise<string> => {
          const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }]
          const { content } = await judge.doGenerate({ prompt, abortSignal: signal })
          return content.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('')
        }
  return async (question, _, signal) => {
    try {
      return await generate(question, { signal })
    } catch (error) {
      signal.throwIfAborted()
      if (AgogeError.isInstance(error)) throw error
      return error instanceof Error ? error : new Error(String(error))
    }
  }
}

interface Waiting {
  question: string
  key: string
  signal: AbortSignal
  resolve: (answer: string | Error) => void
  reject: (error: unknown) => void
}

/** Questions asked at the same time form one batch of the actor: a local model answers a batch almost as fast as one question. */
function batchingSpeaker(actor: Actor): Speaker {
  let waiting: Waiting[] = []
  async function flush(): Promise<void> {
    const batch = waiting
    waiting = []
    const { signal } = batch[0]
    try {
      const acts = await actor.act(batch.map(requestOf(actor)), { signal })
      batch.forEach(({ resolve }, i) => {
        const act: Act | Error = acts[i]
        resolve(act instanceof Error ? act : act.text)
      })
    } catch (error) {
      const isOurs = signal.aborted || AgogeError.isInstance(error)
      const fault = error instanceof Error ? error : new Error(String(error))
      for (const { resolve, reject } of batch)
        if (isOurs) reject(error)
        else resolve(fault)
    }
  }
  return (question, key, signal) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(() => void flush())
      waiting.push({ question, key, signal, resolve, reject })
    })
}

function requestOf(actor: Actor) {
  return ({ question: text, key }: Waiting) => {
    const tokens = actor.encode({ role: 'user', text })
    const node = { id: 0, parent: null, agent: 'judge', role: 'user' as const, text, tokens }
    return { episode: key, turn: 0, nodes: [node], tools: [] }
  }
}
