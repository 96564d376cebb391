import { fileURLToPath } from 'node:url'

/** The base model that comes with the package; seen from `src/llm/checkpoint` as from `dist/llm/checkpoint`. */
export const baseModelFolder = fileURLToPath(new URL('../../../models/base', import.meta.url))
