/** What a tool does, as found by calling it. */
export type ToolEffect =
  /** The same arguments give the same result, and nothing changes. */
  | 'pure'
  /** Its result depends on the state, and nothing changes. */
  | 'reading'
  /** It changes the state. */
  | 'writing'
  /** Its results vary although nothing changed, or it fails in at least half of its calls. */
  | 'unstable'
  /** It takes longer than the deadline of a call. */
  | 'hanging'
  /** No call of it succeeded. */
  | 'unknown'

/** A call that succeeded, and the calls that prepared the state for it. */
export interface ToolExample {
  arguments: Record<string, unknown>
  /** The result as text. */
  text: string
  /** Calls of writing tools before it, from a fresh state, with their results. */
  seeds: readonly { name: string; arguments: Record<string, unknown>; text: string }[]
}

/** What calling a tool showed. */
export interface ToolProfile {
  name: string
  effect: ToolEffect
  /** Why it was concluded, as a sentence without a full stop. Never shortened. */
  reason: string
  /** Share of the calls that failed although the same call had succeeded before. */
  failureRate: number
  /** Of a writing tool: the tools through which its change shows, and `{files}` for the files of its slot. */
  shownBy: readonly string[]
  /** A few calls that succeeded. */
  examples: readonly ToolExample[]
}
