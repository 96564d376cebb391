/**
 * The parts of `LanguageModelV3` (`@ai-sdk/provider` 3) that a model object here reads and gives, written down so that nothing of the
 * AI SDK has to be installed; a test holds them against the package.
 */
export interface LanguageModel {
  readonly specificationVersion: 'v3'
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(options: CallOptions): Promise<GenerateResult>
  doStream(options: CallOptions): Promise<{ stream: ReadableStream<StreamPart> }>
}

export interface CallOptions {
  prompt: readonly PromptMessage[]
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  stopSequences?: string[] | undefined
  topP?: number | undefined
  topK?: number | undefined
  presencePenalty?: number | undefined
  frequencyPenalty?: number | undefined
  responseFormat?: { type: 'text' } | { type: 'json'; schema?: unknown } | undefined
  seed?: number | undefined
  tools?: readonly CallTool[] | undefined
  toolChoice?: { type: 'auto' | 'none' | 'required' } | { type: 'tool'; toolName: string } | undefined
  abortSignal?: AbortSignal | undefined
}

/** A function of the user's program, or (type `provider`) a tool that the service itself would run. */
export interface CallTool {
  type: string
  name: string
  description?: string | undefined
  inputSchema?: unknown
}

export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user' | 'assistant' | 'tool'; content: readonly PromptPart[] }

export interface PromptPart {
  type: string
  text?: string
  toolCallId?: string
  toolName?: string
  input?: unknown
  output?: unknown
  mediaType?: string
}

export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }

export interface FinishReason {
  unified: 'stop' | 'length' | 'tool-calls'
  raw: string
}

export interface Usage {
  inputTokens: { total: number; noCache: undefined; cacheRead: undefined; cacheWrite: undefined }
  outputTokens: { total: number; text: undefined; reasoning: undefined }
}

/** What a trainer needs, beside what the model said: `providerMetadata.agoge`. */
export interface TokenMetadata {
  promptTokenIds: number[]
  tokenIds: number[]
  /** Natural logarithms, one a token of `tokenIds`. */
  logprobs: number[]
  weightVersion: number
}

export type Metadata = { agoge: { [Field in keyof TokenMetadata]: TokenMetadata[Field] } }

export type Warning = { type: 'unsupported'; feature: string; details?: string }

export interface GenerateResult {
  content: ContentPart[]
  finishReason: FinishReason
  usage: Usage
  providerMetadata: Metadata
  response: { id: string; timestamp: Date; modelId: string }
  warnings: Warning[]
}

export type StreamPart =
  | { type: 'stream-start'; warnings: Warning[] }
  | { type: 'response-metadata'; id: string; timestamp: Date; modelId: string }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  | { type: 'finish'; finishReason: FinishReason; usage: Usage; providerMetadata: Metadata }
  | { type: 'error'; error: unknown }
