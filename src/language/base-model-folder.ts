import { fileURLToPath } from 'node:url'

/** The base model that comes with the package; seen from `src/language` as from `dist/language`. */
export const baseModelFolder = fileURLToPath(new URL('../../models/base', import.meta.url))
