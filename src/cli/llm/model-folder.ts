import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { checkFolder } from '../../runs/files.ts'

/** Files that a folder may contain when a model replaces it. */
const ownFiles =
  /^(?:\.agoge-probe-\d+|README\.md|checksums\.sha256|(?:config|state|tokenizer)\.json|(?:model|optimizer)\.safetensors)$/
const ownCheckpoints = /^(?:general|decisions)(?:-finished(?:\.writing|\.before)?)?$/

/**
 * Checks, before hours of work, that a model can be written to the folder. A finished model replaces the whole folder.
 * So the folder may contain nothing else, its parent must be writable, and it must not be a mount point.
 *
 * @param folder absolute path.
 * @throws AgogeError with the folder.
 */
export function checkModelFolder(folder: string, resume: boolean): void {
  if (!resume && existsSync(join(folder, 'model.safetensors'))) {
    throw new AgogeError(`${folder} already holds a model.`, {
      code: 'model-exists',
      given: folder,
      expected: 'a folder without a model',
      hint: 'Choose another folder with --out.',
    })
  }
  checkFolder(folder)
  if (!existsSync(folder)) return
  const stranger = strangerIn(folder)
  if (stranger !== undefined) {
    throw new AgogeError(`${folder} holds other things than a model: ${stranger}`, {
      code: 'folder-not-empty',
      given: folder,
      expected: 'a new or empty folder, for the model takes the place of all that is in it',
      hint: 'Choose another folder with --out.',
    })
  }
  if (statSync(folder).dev !== statSync(dirname(folder)).dev) {
    throw new AgogeError(`${folder} is a mount point, which cannot be replaced by a model.`, {
      code: 'unusable-path',
      given: folder,
      expected: 'a folder that can be renamed',
      hint: `Choose a folder in it: --out ${join(folder, 'model')}`,
    })
  }
  checkFolder(dirname(folder))
}

function strangerIn(folder: string): string | undefined {
  const names = readdirSync(folder)
  const stranger = names.find((name) => name !== 'checkpoints' && !ownFiles.test(name))
  if (stranger !== undefined || !names.includes('checkpoints')) return stranger
  const inner = readdirSync(join(folder, 'checkpoints')).find((name) => !ownCheckpoints.test(name))
  return inner === undefined ? undefined : join('checkpoints', inner)
}
