/** Work that yields what it has to wait for: values are given back at once, promises when they are resolved. */
export type Work<T> = Generator<unknown, T, unknown>

/** Runs work to its end: at once where nothing has to be waited for, else as a promise. */
export function drive<T>(work: Work<T>): T | Promise<T> {
  let turn = work.next()
  while (turn.done !== true) {
    const given = turn.value
    if (given instanceof Promise) return driveOn(work, given)
    turn = work.next(given)
  }
  return turn.value
}

async function driveOn<T>(work: Work<T>, first: Promise<unknown>): Promise<T> {
  let given: unknown = first
  for (;;) {
    let turn: IteratorResult<unknown, T>
    try {
      turn = work.next(await given)
    } catch (error) {
      turn = work.throw(error)
    }
    if (turn.done === true) return turn.value
    given = turn.value
  }
}
