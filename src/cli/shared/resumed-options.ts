import { resolve } from 'node:path'
import { AgogeError } from '../../error.ts'
import { listRuns, trainedEnvironment, trainedFile } from './runs.ts'

/** What was typed beside `--resume`. */
export interface TypedBeside {
  /** Options without their defaults. */
  typed: object
  /** The environment, if it was named. */
  environment?: string | undefined
}

/** The name of an option as it is typed. */
export const dashed = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`

/**
 * Refuses options that would change a resumed run.
 *
 * @param allowed options that change nothing about the run.
 * @throws AgogeError with the options, or the environment, that differ from the run's.
 */
export function refuseChanges(
  folder: string,
  { typed, environment }: TypedBeside,
  allowed: readonly string[] = [],
): void {
  const trained = trainedEnvironment(folder)
  if (
    environment !== undefined &&
    trained !== undefined &&
    environment !== trained &&
    trainedFile(folder) !== resolve(environment)
  ) {
    const other = listRuns().find((run) => trainedEnvironment(run) === environment)
    throw new AgogeError(`The run in ${folder} trains on ${trained}, not on ${environment}`, {
      code: 'bad-option',
      given: environment,
      expected: trained,
      hint:
        other === undefined
          ? `Resume it: agoge train --resume ${folder}`
          : `The last run on ${environment}: agoge train --resume ${other}`,
    })
  }
  const wrong = Object.keys(typed).filter((name) => name !== 'resume' && !allowed.includes(name))
  if (wrong.length === 0) return
  throw new AgogeError('A resumed run keeps the options that it was begun with', {
    code: 'bad-option',
    given: wrong.map(dashed).join(' '),
    expected:
      allowed.length === 0 ? '--resume alone' : `--resume, and ${allowed.map(dashed).join(' or ')} at most`,
    hint: 'Begin a new run for other options',
  })
}
