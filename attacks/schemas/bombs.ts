import type { Bomb } from './bomb.ts'
import { patternBombs } from './pattern-bombs.ts'
import { schemaBombs } from './schema-bombs.ts'
import { templateBombs } from './template-bombs.ts'
import { textBombs } from './text-bombs.ts'

export const bombs: readonly Bomb[] = [...schemaBombs, ...patternBombs, ...templateBombs, ...textBombs]
