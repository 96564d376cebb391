import { existsSync, readdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { labelsFile } from '../../llm/project/judging/labels.ts'
import { episodesFile, readTrials } from '../../llm/project/judging/stored-trials.ts'
import { serveLabels } from '../../llm/project/label/serve-labels.ts'
import type { Console } from '../shared/console.ts'

export interface LabelCommand {
  folder: string | undefined
  rater?: string
  seed: number
  port: number
}

/** `agoge label`: a page to rate the trials of an evaluation, until it is interrupted. */
export async function runLabel(command: LabelCommand, { out, err, signal }: Console): Promise<void> {
  const { rater = userName(), seed, port } = command
  const folder = command.folder ?? lastEvaluation()
  if (!existsSync(join(folder, episodesFile)))
    throw new AgogeError(`${folder} has no trials to rate`, {
      code: 'bad-option',
      given: folder,
      expected: 'the folder of an evaluation, such as .agoge/evaluations/2026-11-29T09-30-00',
    })
  const file = join(folder, labelsFile)
  const trials = readTrials(join(folder, episodesFile))
  const served = await serveLabels({ trials, file, rater, seed, port })
  out(served.url)
  err(`${trials.length} trials of ${folder}, rated by ${rater}; Ctrl-C ends`)
  err(`labels in ${file}; then: agoge judge check ${folder}`)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await served.close()
}

function lastEvaluation(): string {
  const home = join('.agoge', 'evaluations')
  const names = existsSync(home) ? readdirSync(home).sort() : []
  const last = names.findLast((name) => existsSync(join(home, name, episodesFile)))
  if (last !== undefined) return join(home, last)
  throw new AgogeError('there is no evaluation here', {
    code: 'bad-option',
    given: 'no folder',
    expected: `the folder of an evaluation, or one in ${home}`,
    hint: 'agoge eval makes one',
  })
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // Some containers have no name for their user.
    return 'somebody'
  }
}
