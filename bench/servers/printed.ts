// Reads which tools were left out, and why, from what `agoge train mcp:NAME` prints.

/** A tool that no task uses. */
export interface LeftOut {
  name: string
  reason: string
}

export interface PrintedTools {
  /** Tools that the plan of calls lists, without those left out later. */
  usable: string[]
  leftOut: LeftOut[]
  /** The first line of the error that ended the command; null if none did. */
  error: string | null
}

const planned = /^ {2}(\S+) +(?:reads|MAY CHANGE STATE)\b/
/** The lines `given:`, `expected:` and `hint:` of an error are padded to a column. */
const reasoned = /^ {2}(\S+): (?! )(.*)$/

/** Reads the plan, the lines `left out: TOOL (REASON)` and the list of reasons in an error. */
export function readPrinted(stderr: string): PrintedTools {
  const admitted: string[] = []
  const leftOut = new Map<string, string>()
  let error: string | null = null
  let listing = false
  let last: string | undefined
  for (const line of stderr.split(/\r?\n/)) {
    const [, tool] = planned.exec(line) ?? []
    const [, dropped, why] = /^left out: (\S+) \((.*?)\)?$/.exec(line) ?? []
    const [, named, reason] = (listing && reasoned.exec(line)) || []
    if (line.startsWith('and will not call:')) listing = true
    else if (line.startsWith('error: ')) {
      error ??= line.slice('error: '.length)
      listing = true
    } else if (tool !== undefined) admitted.push(tool)
    else if (dropped !== undefined) leftOut.set((last = dropped), why)
    else if (named !== undefined) leftOut.set((last = named), leftOut.get(named) ?? reason)
    else if (last !== undefined && /^ {4}/.test(line))
      leftOut.set(last, `${leftOut.get(last)} ${line.trim().replace(/\)$/, '')}`)
    else {
      listing = false
      last = undefined
    }
  }
  return {
    // The profile lists them again.
    usable: [...new Set(admitted)].filter((name) => !leftOut.has(name)),
    leftOut: [...leftOut].map(([name, reason]) => ({ name, reason })),
    error,
  }
}

/** Tasks of `agoge tasks`, and how often agents solve them. */
export interface PrintedMeasures {
  tasks: number
  expert: number
  cheating: CheatingRates
}

/** Success of agents that do not read the request. */
export interface CheatingRates {
  doNothing: number
  alwaysRefuse: number
  anyStringSeen: number
  everyToolOnce: number
}

/** Reads the measures at the end of what `agoge tasks` prints. Null if it printed none. */
export function readMeasures(stdout: string): PrintedMeasures | null {
  const share = (agent: string): number | undefined => {
    const [, solved, judged] = new RegExp(`^${agent} +(\\d+)/(\\d+)`, 'm').exec(stdout) ?? []
    return judged === undefined ? undefined : Number(solved) / Number(judged)
  }
  const [, tasks] = /^duplicates \d+ of (\d+)/m.exec(stdout) ?? []
  const [expert, doNothing, alwaysRefuse, anyStringSeen, everyToolOnce] = [
    'expert',
    'do nothing',
    'always refuse',
    'any string seen',
    'every tool once',
  ].map(share)
  if (
    tasks === undefined ||
    expert === undefined ||
    doNothing === undefined ||
    alwaysRefuse === undefined ||
    anyStringSeen === undefined ||
    everyToolOnce === undefined
  )
    return null
  return { tasks: Number(tasks), expert, cheating: { doNothing, alwaysRefuse, anyStringSeen, everyToolOnce } }
}
