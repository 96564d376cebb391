/** Of an object, the same without the possibility of `undefined`: such properties are optional. */
type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }

/**
 * A copy without the properties that are `undefined`. With `exactOptionalPropertyTypes` an optional property may be left out but
 * not be `undefined`, and a spread of `undefined` would hide a default.
 *
 * @example
 * call({ name, ...defined({ signal, timeout }) })
 */
export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
