import type { Measured, Peer } from './peer.ts'

/** One printed line. `ratio` above 1 means that ours is faster (or smaller). */
export interface Measurement {
  name: string
  ours: number
  peer: number | null
  ratio: number | null
  unit: string
  /** Where both sides learn something: what came of it, averaged over the rounds. */
  scores?: { ours: number; peer: number | null }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const scoresOf = (measured: Measured[]) =>
  measured.flatMap(({ score }) => (score === undefined ? [] : [score]))

/**
 * Runs ours and the peer in turn, `rounds` times, `count` units of work each. `amount` is what one unit of work
 * is worth in `unit` x seconds (for example tokens a step), so the figures are rates. The ratio is the median of
 * the rounds' ratios. `ours` may say itself how long it took, where it does more than what is to be measured, and gets
 * `oursCount` units where `count` would be over too soon.
 */
export async function alternate(options: {
  name: string
  unit: string
  amount: number
  count: number
  oursCount?: number
  rounds?: number
  ours: (count: number) => Promise<void | Measured>
  peer: Peer | null
}): Promise<Measurement> {
  const { name, unit, amount, count, oursCount = count, rounds = 5, ours, peer } = options
  await ours(1)
  const found: { ours: Measured[]; peer: Measured[] } = { ours: [], peer: [] }
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    const measured = await ours(oursCount)
    found.ours.push(measured ?? { seconds: (performance.now() - begin) / 1000 })
    if (peer) found.peer.push(await peer.measure(count))
  }
  peer?.close()
  const oursRates = found.ours.map(({ seconds }) => (amount * oursCount) / seconds)
  const peerRates = found.peer.map(({ seconds }) => (amount * count) / seconds)
  const scores = { ours: scoresOf(found.ours), peer: scoresOf(found.peer) }
  return {
    name,
    ours: median(oursRates),
    peer: peer ? median(peerRates) : null,
    ratio: peer ? median(oursRates.map((rate, i) => rate / peerRates[i])) : null,
    unit,
    ...(scores.ours.length > 0
      ? { scores: { ours: mean(scores.ours), peer: scores.peer.length > 0 ? mean(scores.peer) : null } }
      : {}),
  }
}
