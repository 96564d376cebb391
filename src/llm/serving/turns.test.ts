import { expect, it } from 'vitest'
import { inSharedTurn, ownTurn } from './turns.ts'

/** Counts the turns of the event loop. */
function countTurns(): { now: () => number; stop: () => void } {
  let [turn, goesOn] = [0, true]
  function next(): void {
    turn++
    if (goesOn) setImmediate(next)
  }
  setImmediate(next)
  return { now: () => turn, stop: () => (goesOn = false) }
}

function work(milliseconds: number): void {
  const end = performance.now() + milliseconds
  do;
  while (performance.now() < end)
}

/** The turn in which each did its work. */
async function sharingTurns(count: number, milliseconds: number): Promise<number[]> {
  const turns = countTurns()
  const found: number[] = []
  const each = Array.from({ length: count }, () =>
    inSharedTurn(() => {
      found.push(turns.now())
      work(milliseconds)
    }),
  )
  await Promise.all(each)
  turns.stop()
  return found
}

it('gives each its own turn, in their order', async () => {
  const turns = countTurns()
  const found = await Promise.all([0, 1, 2, 3].map(async () => (await ownTurn(), turns.now())))
  turns.stop()
  expect(new Set(found).size).toBe(4)
  expect(found).toEqual(found.toSorted((a, b) => a - b))
})

it('lets short work share a turn', async () => {
  expect(new Set(await sharingTurns(3, 0)).size).toBe(1)
})

it('lets long work wait for other turns', async () => {
  expect(new Set(await sharingTurns(3, 12)).size).toBe(3)
})

it('goes on although others keep every turn busy', async () => {
  const stop = new AbortController()
  async function keepBusy(): Promise<void> {
    while (!stop.signal.aborted) await inSharedTurn(() => work(12))
  }
  const busy = [keepBusy(), keepBusy()]
  for (let i = 0; i < 3; i++) await ownTurn()
  stop.abort()
  await Promise.all(busy)
})
