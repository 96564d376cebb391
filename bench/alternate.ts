import type { Peer } from './peer.ts'

/** One printed line. `ratio` above 1 means that ours is faster (or smaller). */
export interface Measurement {
  name: string
  ours: number
  peer: number | null
  ratio: number | null
  unit: string
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]

/**
 * Runs ours and the peer in turn, `rounds` times, `count` units of work each. `amount` is what one unit of work
 * is worth in `unit` x seconds (for example tokens a step), so the figures are rates. The ratio is the median of
 * the rounds' ratios.
 */
export async function alternate(options: {
  name: string
  unit: string
  amount: number
  count: number
  rounds?: number
  ours: (count: number) => Promise<void>
  peer: Peer | null
}): Promise<Measurement> {
  const { name, unit, amount, count, rounds = 5, ours, peer } = options
  await ours(1)
  const oursRates: number[] = []
  const peerRates: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    await ours(count)
    oursRates.push((amount * count * 1000) / (performance.now() - begin))
    if (peer) peerRates.push((amount * count) / (await peer.seconds(count)))
  }
  peer?.close()
  return {
    name,
    ours: median(oursRates),
    peer: peer ? median(peerRates) : null,
    ratio: peer ? median(oursRates.map((rate, i) => rate / peerRates[i])) : null,
    unit,
  }
}
