import { defined } from '../../defined.ts'
import { average } from '../../statistics/statistics.ts'
import type { ModelBackend, SampleRequest } from '../model-backend.ts'
import { conversationSeed } from './corpus-batches.ts'
import { corpusConversation, skillConversation } from './corpus/conversation.ts'
import type { CorpusSkill, CorpusStage } from './corpus/conversation.ts'
import { encodeConversation, encodeMessage, lastResult } from '../tokenizer/template.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

/** The evaluated skills of the base corpus, by the name of their score. */
export const evaluatedSkills = {
  copy: 'copying',
  json: 'key-value and json',
  paths: 'paths',
  'kind count': 'kind counting',
  toolDescriptions: 'tool from a legend',
  'read back': 'read back',
  'one call': 'one effect',
  count: 'ask of a list',
  'two calls': 'seek and do',
  'two effects': 'several effects',
  duplicate: 'duplicate',
  fill: 'make and fill',
  compare: 'comparing',
  choose: 'choosing plainly',
  pick: 'picking',
  rule: 'ruling',
  condition: 'weighed condition',
  records: 'ask of records',
  'record changes': 'change records',
  'record actions': 'act on records',
  'many effects': 'many effects',
  described: 'described server',
  'unseen server': 'unseen server',
  'unseen words': 'unseen words',
} as const satisfies Record<string, CorpusSkill>

export type SkillName = keyof typeof evaluatedSkills

/** Skills that only the stage `described` teaches: a server is explained in the prompt. */
export const describedSkills: readonly SkillName[] = ['described', 'unseen server', 'unseen words']

export interface SkillEvaluationOptions {
  /** Conversations per skill. Default: 40. */
  count?: number
  /** Default: 0. Different seeds share no conversation. */
  seed?: number
  names?: readonly SkillName[]
  /** Evaluates only the first turn of each conversation, usually the first call. Default: false. */
  firstTurn?: boolean
  signal?: AbortSignal
}

/** Share of a skill's conversations in which every turn of the model is exactly right, 0 to 1. */
export type SkillScores = Partial<Record<SkillName, number>>

/**
 * Evaluates skills by greedy decoding on conversations with words that never occur in training. A conversation counts as right
 * if each of its assistant turns, including calls, is correct token for token. Tool results come from the simulated environment.
 */
export async function evaluateSkills(
  backend: Pick<ModelBackend, 'sample'>,
  tokenizer: Tokenizer,
  options: SkillEvaluationOptions = {},
): Promise<SkillScores> {
  const right = await rightConversations(backend, tokenizer, options)
  return Object.fromEntries(Object.entries(right).map(([name, each]) => [name, average(each.map(Number))]))
}

/**
 * As `evaluateSkills`, for each conversation whether it was right. Calls with the same seed and count have the same conversations
 * in the same order, so that models can be compared pair by pair.
 */
export async function rightConversations(
  backend: Pick<ModelBackend, 'sample'>,
  tokenizer: Tokenizer,
  {
    count = 40,
    seed = 0,
    firstTurn = false,
    names = Object.keys(evaluatedSkills) as SkillName[],
    signal,
  }: SkillEvaluationOptions = {},
): Promise<Partial<Record<SkillName, boolean[]>>> {
  const requests: SampleRequest[] = []
  const wanted: { name: SkillName; conversation: number; tokens: Int32Array }[] = []
  const marker = tokenizer.special('<|assistant|>')
  for (const name of names) {
    for (let i = 0; i < count; i += 1) {
      const context: number[] = []
      let asked = false
      const messages = skillConversation(evaluatedSkills[name], seed * 1_000_003 + i, 'probe')
      for (const [at, message] of messages.entries()) {
        const { tokens } = encodeMessage(tokenizer, message, lastResult(messages.slice(0, at)))
        if (message.role === 'assistant' && !(firstTurn && asked)) {
          asked = true
          requests.push({
            prompt: Int32Array.from([...context, marker]),
            key: `${name}/${i}/${context.length}`,
          })
          wanted.push({ name, conversation: i, tokens: tokens.subarray(1) })
        }
        context.push(...tokens)
      }
    }
  }
  const maxTokens = wanted.reduce((most, { tokens }) => Math.max(most, tokens.length), 0)
  const stop = [tokenizer.special('<|end|>')]
  // Generates no more tokens than the right answer has, so that long answers do not delay the short ones.
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a].tokens.length - wanted[b].tokens.length)
  const failed = new Set<string>()
  const size = 128
  for (let start = 0; start < order.length; start += size) {
    const part = order.slice(start, start + size)
    const limit = Math.min(maxTokens, wanted[part[part.length - 1]].tokens.length)
    const options = {
      maxTokens: limit,
      stop,
      temperature: 0,
      seed,
      ...defined({ signal }),
    }
    const outputs = await backend.sample(
      part.map((i) => requests[i]),
      options,
    )
    for (const [j, i] of part.entries()) {
      const { name, conversation, tokens } = wanted[i]
      if (!sameTokens(outputs[j].tokens, tokens)) failed.add(`${name}/${conversation}`)
    }
  }
  return Object.fromEntries(
    names.map((name) => [name, Array.from({ length: count }, (_, i) => !failed.has(`${name}/${i}`))]),
  )
}

/**
 * How well a model predicts what an assistant says in conversations that no training has: for each of the first `count` of a stage
 * the negative log-probability of all assistant turns together, in nats. It does not depend on how a tokenizer cuts texts, so models
 * with different vocabularies can be compared, conversation by conversation.
 */
export async function conversationNats(
  backend: Pick<ModelBackend, 'forward'>,
  tokenizer: Tokenizer,
  { stage, count, seed = 0 }: { stage: CorpusStage; count: number; seed?: number },
): Promise<number[]> {
  const encoded = Array.from({ length: count }, (_, i) =>
    encodeConversation(tokenizer, corpusConversation(conversationSeed(seed, i), 'probe', stage)),
  )
  const nats: number[] = []
  const size = 32
  for (let start = 0; start < count; start += size) {
    const part = encoded.slice(start, start + size)
    const logprobs = await backend.forward(part.map(({ tokens }) => tokens))
    for (const [i, { mask }] of part.entries())
      nats.push(-logprobs[i].reduce((sum, logprob, t) => (mask[t] === 1 ? sum + logprob : sum), 0))
  }
  return nats
}

const sameTokens = (a: Int32Array, b: Int32Array): boolean =>
  a.length === b.length && a.every((token, i) => token === b[i])
