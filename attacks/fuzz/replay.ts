// node --import tsx --conditions agoge-source attacks/fuzz/replay.ts PARSER SEED NUMBER
//   gives one input to a parser again, and prints what happens. PARSER is the name of an attack of the part `fuzz`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgogeError } from '../../src/error.ts'
import { inputOf } from './attack-input.ts'
import { shownInput } from './parser.ts'
import { parsers } from './parsers.ts'
import { useFolder } from './scratch.ts'

const [name, seed, number, file] = process.argv.slice(2)
const parser = parsers.find((each) => each.name === name)
if (parser === undefined || seed === undefined || number === undefined) {
  console.error(
    `usage: replay.ts PARSER SEED NUMBER [FILE]; PARSER is one of: ${parsers.map((each) => each.name).join(', ')}`,
  )
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'agoge-fuzz-'))
useFolder(folder)
const input = inputOf(parser, Number(seed), Number(number))
console.log(`${input.length} ${typeof input === 'string' ? 'characters' : 'bytes'}: ${shownInput(input)}`)
if (file !== undefined) writeFileSync(file, input)
try {
  await parser.parse(input, (stage) => console.log(`reached stage ${stage}`))
  console.log('no error')
} catch (error) {
  const isRefused = AgogeError.isInstance(error) || parser.refuses?.(error) === true
  console.log(isRefused ? `refused: ${String(error)}` : error)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
