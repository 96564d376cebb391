import type { FuzzParser } from './parser.ts'
import { episodeParsers } from './parsers/episodes.ts'
import { folderParsers } from './parsers/folders.ts'
import { mcpParsers } from './parsers/mcp.ts'
import { outputParsers } from './parsers/outputs.ts'
import { resultParsers } from './parsers/results.ts'
import { runParsers } from './parsers/runs.ts'
import { schemaParsers } from './parsers/schemas.ts'
import { servingParsers } from './parsers/serving.ts'
import { tinkerParsers } from './parsers/tinker.ts'
import { weightParsers } from './parsers/weights.ts'

/** Every parser of bytes that come from outside. */
export const parsers: readonly FuzzParser[] = [
  ...weightParsers,
  ...folderParsers,
  ...episodeParsers,
  ...mcpParsers,
  ...resultParsers,
  ...outputParsers,
  ...schemaParsers,
  ...servingParsers,
  ...tinkerParsers,
  ...runParsers,
]
