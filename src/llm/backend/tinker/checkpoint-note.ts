import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import { readWithChecksum, withChecksum } from '../../../runs/checksums.ts'
import { readForeignFile } from '../../../untrusted/foreign-file.ts'
import { renameFlushed } from '../../../runs/files.ts'

/** Content of a checkpoint folder if the weights are on a server: where they are. Never contains a key. */
export interface CheckpointNote {
  schema: 1
  /** `tinker://MODEL/weights/NAME`. */
  path: string
  baseModel: string
  loraRank: number
  weightVersion: number
  /** Address of the server, for readers. */
  server: string
}

const name = 'tinker.json'

/** Written to a temporary folder and then renamed, like checkpoints. */
export function writeNote(folder: string, note: CheckpointNote): void {
  const aside = `${folder}.writing`
  const before = `${folder}.before`
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside, { recursive: true })
  writeFileSync(join(aside, name), withChecksum(note, 2))
  rmSync(before, { recursive: true, force: true })
  if (existsSync(folder)) renameSync(folder, before)
  renameFlushed(aside, folder)
  rmSync(before, { recursive: true, force: true })
}

/** Whether the folder still refers to these weights. */
export function holdsNote(folder: string, path: string): boolean {
  try {
    return readNote(folder).path === path
  } catch {
    return false
  }
}

/** @throws AgogeError `bad-checkpoint` if the folder holds no such note, or a damaged one. */
export function readNote(given: string): CheckpointNote {
  // A crash between the two renames leaves the older note under its temporary name.
  const folder = !existsSync(given) && existsSync(`${given}.before`) ? `${given}.before` : given
  const file = join(folder, name)
  let text = ''
  try {
    text = readForeignFile(file, (given) => given)
    const note: Partial<CheckpointNote> = readWithChecksum(text)?.fields ?? {}
    if (note.schema === 1 && typeof note.path === 'string' && typeof note.baseModel === 'string')
      return { loraRank: 0, weightVersion: 0, server: '', ...note } as CheckpointNote
  } catch (cause) {
    throw unusable(file, text, cause)
  }
  throw unusable(file, text)
}

/** Throws for a folder that contains only a note, with the address of the weights. */
export function refuseRemote(folder: string): void {
  if (!existsSync(join(folder, name))) return
  const { path, server } = readNote(folder)
  throw new AgogeError(`The weights of ${folder} are on the Tinker server ${server}.`, {
    code: 'remote-model',
    given: path,
    expected: 'a folder with config.json, model.safetensors and tokenizer.json',
    hint: `On the machine of agoge serve --tinker they are in its --store (.agoge/tinker by default): ${path.slice('tinker://'.length)}`,
  })
}

function unusable(file: string, text: string, cause?: unknown): AgogeError {
  return new AgogeError(`${file} does not tell where weights on a Tinker server are`, {
    code: 'bad-checkpoint',
    given: text === '' ? 'no such file' : text.slice(0, 80),
    expected: 'a checkpoint that was saved with the Tinker backend',
    hint: 'Weights of a local checkpoint cannot be sent to a Tinker server: name the folder as base model of the server instead.',
    ...defined({ cause }),
  })
}
