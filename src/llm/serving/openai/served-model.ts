import type { ChatFormat } from '../../agent/chat-format/index.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'

/** A model behind the endpoint. */
export interface ServedModel {
  /** By which clients name it. */
  name: string
  /** With `continuousBatching` requests join those that are being sampled at the next token; else they wait for them. */
  backend: Pick<ModelBackend, 'sample'> & Partial<Pick<LocalBackend, 'continuousBatching' | 'config'>>
  tokenizer: Tokenizer
  /** How it reads conversations; without it (a base model) there are text completions alone. */
  format?: ChatFormat
  /** Tokens that it can see. */
  window: number
}
