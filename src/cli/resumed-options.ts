import { AgogeError } from '../error.ts'
import { listRuns, trainedWorld } from './runs.ts'

/** What stands on the command line beside `--resume`. */
export interface TypedBeside {
  /** Options without their defaults. */
  typed: object
  /** The world, where one was named. */
  world?: string | undefined
}

/** The name of an option as it is typed. */
export const dashed = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`

/**
 * A run goes on as it was begun: what would change it is refused, not silently left out.
 *
 * @param allowed options that change nothing about the run.
 * @throws AgogeError naming the options, or the world, that the run was not begun with.
 */
export function refuseChanges(
  folder: string,
  { typed, world }: TypedBeside,
  allowed: readonly string[] = [],
): void {
  const trained = trainedWorld(folder)
  if (world !== undefined && trained !== undefined && world !== trained) {
    const other = listRuns().find((run) => trainedWorld(run) === world)
    throw new AgogeError(`The run in ${folder} trains on ${trained}, not on ${world}`, {
      code: 'bad-option',
      given: world,
      expected: trained,
      hint:
        other === undefined
          ? `Go on with it: agoge train --resume ${folder}`
          : `The last run on ${world}: agoge train --resume ${other}`,
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
