import type { ChatFormat } from '../../agent/index.ts'
import type { LocalBackend, ModelBackend, Tokenizer } from '../../language/index.ts'

/** A model behind the endpoint. */
export interface ServedModel {
  /** By which clients name it. */
  name: string
  /** With `sampleTogether` requests join those that are being sampled at the next token; else they wait for them. */
  backend: Pick<ModelBackend, 'sample'> & Partial<Pick<LocalBackend, 'sampleTogether' | 'config'>>
  tokenizer: Tokenizer
  /** How it reads conversations; without it (a base model) there are text completions alone. */
  format?: ChatFormat
  /** Tokens that it can see. */
  window: number
}
