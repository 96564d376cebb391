import { AgogeError } from '../../error.ts'
import { closestName } from '../../closest-name.ts'

/** The entry of this name. Throws `unknown-` and the first word of `kind`, listing what there is, with a suggestion. */
export function findNamed<T>(kind: string, name: string, known: Readonly<Record<string, T>>): T {
  if (Object.hasOwn(known, name)) return known[name]
  const names = Object.keys(known)
  const meant = closestName(name, names)
  throw new AgogeError(`There is no ${kind} named "${name}".`, {
    code: `unknown-${kind.split(' ')[0]}`,
    given: name,
    expected: names.length === 0 ? 'none: there is nothing to choose' : `one of ${names.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}
