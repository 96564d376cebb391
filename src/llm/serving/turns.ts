/** Milliseconds of work in one turn of the event loop, after which other work waits for its own. */
const longestTurn = 5

/** Those who wait for a turn, in the order in which they asked. */
const waiting: (() => void)[] = []
/** When the first work of this turn began. Undefined: nobody has worked in it. */
let begun: number | undefined

function endTurn(): void {
  const worked = begun === undefined ? 0 : performance.now() - begun
  begun = undefined
  // What comes while somebody waits, waits too: so this happens once, and nobody waits for ever.
  if (worked < longestTurn) {
    const first = waiting.shift()
    if (first !== undefined) {
      begun = performance.now()
      first()
    }
  }
  if (waiting.length > 0 || begun !== undefined) setImmediate(endTurn)
}

function begin(): void {
  if (waiting.length === 0 && begun === undefined) setImmediate(endTurn)
}

/**
 * Waits for a turn of the event loop of one's own. The bodies of several clients that arrive together would else be read in one turn,
 * and nothing else could be answered until all are.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    begin()
    waiting.push(resolve)
  })
}

/** Does short work at once while what shares this turn has taken less than five milliseconds, and in an own turn after that. */
export async function inSharedTurn(work: () => void): Promise<void> {
  if (waiting.length > 0 || (begun !== undefined && performance.now() - begun >= longestTurn)) await ownTurn()
  else {
    begin()
    begun ??= performance.now()
  }
  work()
}
