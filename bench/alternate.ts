import type { Measured, Peer } from './peer.ts'

/** One printed line. A `ratio` above 1 means that Agoge is faster (or smaller). */
export interface Measurement {
  name: string
  ours: number
  peer: number | null
  ratio: number | null
  unit: string
  /** Scores of both sides if they train, averaged over the rounds. */
  scores?: { ours: number; peer: number | null }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const scoresOf = (measured: Measured[]) =>
  measured.flatMap(({ score }) => (score === undefined ? [] : [score]))

/**
 * Measures Agoge and the peer in turn, for `rounds` rounds of `count` units of work each. `amount` is the size of one unit in
 * `unit` x seconds (for example tokens per step), so results are rates. The ratio is the median over rounds. `ours` may report
 * its own duration if it does more than the measured work. It gets `oursCount` units if `count` would take too little time.
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
