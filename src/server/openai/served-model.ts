import type { ChatFormat } from '../../agent/index.ts'
import type { ModelBackend, Tokenizer } from '../../language/index.ts'

/** A model behind the endpoint. */
export interface ServedModel {
  /** By which clients name it. */
  name: string
  backend: Pick<ModelBackend, 'sample'>
  tokenizer: Tokenizer
  /** How it reads conversations; without it (a base model) there are text completions alone. */
  format?: ChatFormat
  /** Tokens that it can see. */
  window: number
}
