import type { AnyVector } from '../environment/index.ts'

/** Gathers metrics between two lines of `metrics.jsonl`. */
export interface Metrics {
  /** Counts the episodes that ended in the last step. */
  stepped(environment: AnyVector): void
  /** Adds the metrics of one update. */
  updated(metrics: Readonly<Record<string, number>>): void
  /** Returns the means since the last call, with `return` and `length` of episodes first. Starts over. */
  take(): Record<string, number>
  /** Number of episodes that have ended so far. */
  readonly episodes: number
  state(): MetricsState
  restore(state: MetricsState): void
}

export interface MetricsState {
  episodes: number
  sums: Record<string, number>
  counts: Record<string, number>
}

export function createMetrics(): Metrics {
  let episodes = 0
  let sums: Record<string, number> = {}
  let counts: Record<string, number> = {}

  function add(name: string, value: number): void {
    sums[name] = (sums[name] ?? 0) + value
    counts[name] = (counts[name] ?? 0) + 1
  }

  return {
    stepped({ definition: { agentNames }, terminated, truncated, returns, lengths }) {
      for (let i = 0; i < terminated.length; i++) {
        if (terminated[i] === 0 && truncated[i] === 0) continue
        episodes++
        add('return', returns[i])
        add('length', lengths[i])
        if (agentNames !== undefined) add(`return-${agentNames[i % agentNames.length]}`, returns[i])
      }
    },
    updated(metrics) {
      for (const [name, value] of Object.entries(metrics)) add(name, value)
    },
    take() {
      const {
        return: gained,
        length,
        ...rest
      } = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / counts[name]]))
      sums = {}
      counts = {}
      return { ...(gained === undefined ? {} : { return: gained, length }), ...rest }
    },
    get episodes() {
      return episodes
    },
    state: () => ({ episodes, sums: { ...sums }, counts: { ...counts } }),
    restore(state) {
      episodes = state.episodes
      sums = { ...state.sums }
      counts = { ...state.counts }
    },
  }
}
