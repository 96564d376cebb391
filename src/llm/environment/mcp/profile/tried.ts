import type { AdmittedTool } from '../safety.ts'
import type { ToolExample } from './tool-profile.ts'

/** What the calls of one tool showed so far. */
export interface Tried {
  tool: AdmittedTool
  examples: (ToolExample & { changed: boolean; grew: boolean })[]
  /** Of a tool that changed something: how many of its calls changed what each observer shows, by the observer's key. */
  changes: Map<string, number>
  /** Calls that changed something, and calls that succeeded. */
  changed: number
  succeeded: number
  /** Paths of the files that its calls changed. */
  paths: Set<string>
  /** Whether a file that its calls changed is no text, as a database: equal states may differ in its bytes. */
  opaque: boolean
  /** Whether a file that its calls changed is a database, whose rows are seen. */
  rows: boolean
  /** Calls that were repeated although they had succeeded, and those of them that failed. */
  repeated: number
  failed: number
  /** Repeated calls with another result. */
  varied: number
  slow: number
  /** Processes that ended by its calls, and those that were lost in its calls although no tool ends them by itself. */
  died: number
  lost: number
  /** Properties of its results that differ from call to call, beside others that do not. */
  volatile: Set<string>
  /** Why it cannot be used, whatever the arguments are. */
  hopeless?: string
  /** What the last failed call said. */
  error?: string
}

/** A tool of which nothing was tried yet. */
export function untried(tool: AdmittedTool): Tried {
  return {
    tool,
    examples: [],
    changes: new Map(),
    changed: 0,
    succeeded: 0,
    paths: new Set(),
    opaque: false,
    rows: false,
    repeated: 0,
    failed: 0,
    varied: 0,
    slow: 0,
    died: 0,
    lost: 0,
    volatile: new Set(),
  }
}
