// What a model object answered, whatever the version of its specification, in the order in which protocols send it.

/** A piece of an answer. Each `call` is followed by its `arguments` and its `call-end`, before other pieces of that call's id. */
export type AnswerPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string; signature?: string }
  | { type: 'call'; id: string; name: string }
  | { type: 'arguments'; id: string; text: string }
  | { type: 'call-end'; id: string }
  | { type: 'finish'; finish: Finish; usage: TokenCounts }

export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter'

/** Tokens as the model counted them; 0 where it did not. */
export interface TokenCounts {
  input: number
  output: number
}

/** A part of a whole answer. `arguments` are the JSON that the model wrote. */
export type Block =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string; signature?: string }
  | { type: 'call'; id: string; name: string; arguments: string }

export interface Answer {
  blocks: Block[]
  finish: Finish
  usage: TokenCounts
}

/** What `doGenerate` and the streams of `doStream` give, as far as it is read here. */
interface ForeignPart {
  type: string
  id?: unknown
  text?: unknown
  delta?: unknown
  toolCallId?: unknown
  toolName?: unknown
  input?: unknown
  providerExecuted?: unknown
  finishReason?: unknown
  usage?: unknown
  error?: unknown
  providerMetadata?: Record<string, Record<string, unknown>>
}

/**
 * Reads the parts of a stream, one by one.
 *
 * @throws what the stream reports as an error.
 */
export function createPartReader(): (part: unknown) => AnswerPart[] {
  /** Calls whose input has begun, with whether any of it was seen. */
  const begun = new Map<string, boolean>()
  const hidden = new Set<unknown>()
  let hasCalls = false
  return (given) => {
    const part = given as ForeignPart
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta') return [{ type: 'text', text: textOf(part.delta ?? part.text) }]
    if (part.type === 'reasoning-delta' || part.type === 'reasoning-end') return reasoningOf(part)
    // Calls of tools that the service runs itself.
    if (part.providerExecuted === true) hidden.add(part.toolCallId ?? part.id)
    if (hidden.has(part.toolCallId ?? part.id)) return []
    const id = textOf(part.toolCallId ?? part.id)
    if (part.type === 'tool-input-start') {
      begun.set(id, false)
      return [{ type: 'call', id, name: textOf(part.toolName) }]
    }
    if (part.type === 'tool-input-delta') {
      begun.set(id, true)
      return [{ type: 'arguments', id, text: textOf(part.delta) }]
    }
    if (part.type === 'tool-call') {
      hasCalls = true
      const wasSeen = begun.get(id)
      const start: AnswerPart[] =
        wasSeen === undefined ? [{ type: 'call', id, name: textOf(part.toolName) }] : []
      const input = inputText(part.input)
      const written: AnswerPart[] =
        wasSeen === true || input === '' ? [] : [{ type: 'arguments', id, text: input }]
      return [...start, ...written, { type: 'call-end', id }]
    }
    if (part.type !== 'finish') return []
    return [
      {
        type: 'finish',
        finish: finishOf(part.finishReason, hasCalls),
        usage: tokensOf(part.usage) ?? noTokens,
      },
    ]
  }
}

/** Reads the result of `doGenerate`. */
export function readAnswer(given: unknown): Answer {
  const { content, finishReason, usage } = given as {
    content: readonly ForeignPart[]
    finishReason: unknown
    usage: unknown
  }
  const blocks = content.flatMap((part): Block[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: textOf(part.text) }]
    if (part.type === 'reasoning') {
      const signature = signatureOf(part)
      return [{ type: 'reasoning', text: textOf(part.text), ...(signature !== undefined && { signature }) }]
    }
    if (part.type !== 'tool-call' || part.providerExecuted === true) return []
    const [id, name] = [textOf(part.toolCallId), textOf(part.toolName)]
    return [{ type: 'call', id, name, arguments: inputText(part.input) }]
  })
  const hasCalls = blocks.some(({ type }) => type === 'call')
  return { blocks, finish: finishOf(finishReason, hasCalls), usage: tokensOf(usage) ?? noTokens }
}

/** Adds a part to an answer that is still growing. */
export function addPart(answer: Answer, part: AnswerPart): void {
  const last = answer.blocks.at(-1)
  if (part.type === 'text') {
    if (last?.type === 'text') last.text += part.text
    else answer.blocks.push({ type: 'text', text: part.text })
  } else if (part.type === 'reasoning') {
    const { text, signature } = part
    if (last?.type !== 'reasoning') answer.blocks.push({ ...part })
    else Object.assign(last, { text: last.text + text }, signature !== undefined && { signature })
  } else if (part.type === 'call')
    answer.blocks.push({ type: 'call', id: part.id, name: part.name, arguments: '' })
  else if (part.type === 'arguments') {
    const call = answer.blocks.find((block) => block.type === 'call' && block.id === part.id)
    if (call?.type === 'call') call.arguments += part.text
  } else if (part.type === 'finish') Object.assign(answer, { finish: part.finish, usage: part.usage })
}

function reasoningOf(part: ForeignPart): AnswerPart[] {
  const text = textOf(part.delta)
  const signature = signatureOf(part)
  if (text === '' && signature === undefined) return []
  return [{ type: 'reasoning', text, ...(signature !== undefined && { signature }) }]
}

/** What Anthropic wants back with the reasoning of its models. */
function signatureOf({ providerMetadata }: ForeignPart): string | undefined {
  const signature = providerMetadata?.['anthropic']?.['signature']
  return typeof signature === 'string' ? signature : undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const inputText = (input: unknown): string =>
  typeof input === 'string' ? input : JSON.stringify(input ?? {})

/** Version 2 of the specification has a text here, later ones an object. */
function finishOf(given: unknown, hasCalls: boolean): Finish {
  const reason = typeof given === 'object' && given !== null && 'unified' in given ? given.unified : given
  if (reason === 'length' || reason === 'content-filter') return reason
  return hasCalls ? 'tool-calls' : 'stop'
}

/** The answer as the content that model objects return. */
export function contentOf({ blocks }: Answer): { type: string; [field: string]: unknown }[] {
  return blocks.map((block) =>
    block.type === 'call'
      ? { type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.arguments }
      : { type: block.type, text: block.text },
  )
}

const noTokens: TokenCounts = { input: 0, output: 0 }

/**
 * The tokens that a call took, if the model counted them. Version 2 of the specification counts tokens as numbers, later ones as
 * totals with parts.
 */
export function tokensOf(usage: unknown): TokenCounts | undefined {
  const { inputTokens, outputTokens } = (usage ?? {}) as { inputTokens?: unknown; outputTokens?: unknown }
  const [input, output] = [inputTokens, outputTokens].map((count) =>
    typeof count === 'object' && count !== null && 'total' in count ? count.total : count,
  )
  return typeof input === 'number' && typeof output === 'number' ? { input, output } : undefined
}
