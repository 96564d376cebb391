import { AgogeError } from '../../error.ts'

/** Objects that were made by functions and are at play. */
const atPlay = new WeakSet<object>()

const shared = (envIndex: number): AgogeError =>
  new AgogeError('The function that makes environments gave one that is at play already', {
    code: 'bad-argument',
    given: `the same object again, for slot ${envIndex}`,
    expected: 'an object of its own for every slot, and for evaluation',
    hint: 'Make it within the function: () => new MyEnvironment()',
  })

/** @throws AgogeError `bad-argument` where slots share an object, which would be stepped by all of them. */
export function requireOneEach(environments: readonly unknown[]): void {
  const envIndex = environments.findIndex((one, i) => environments.indexOf(one) < i)
  if (envIndex >= 0) throw shared(envIndex)
}

/**
 * The same for vectors that play at the same time, such as those of training and of an evaluation.
 *
 * @returns lets the objects go.
 */
export function claimEach(environments: readonly object[]): () => void {
  requireOneEach(environments)
  const envIndex = environments.findIndex((one) => atPlay.has(one))
  if (envIndex >= 0) throw shared(envIndex)
  for (const one of environments) atPlay.add(one)
  return () => {
    for (const one of environments) atPlay.delete(one)
  }
}
