import type { AgentSetup } from '../../setup/setup.ts'

type Tool = NonNullable<AgentSetup['tools']>[string]

/** A setup and how often it succeeded. */
export interface ScoredSetup {
  setup: AgentSetup
  score: number
}

/**
 * The setup that has from two others what each has changed: a component that one of them left as their ancestor has it comes from the
 * other; one that both changed comes from the better one. Components are the instructions and each tool's name and description;
 * everything else is as in the better one. Undefined if the two have not changed different components, so that there is nothing to join.
 *
 * Source: Agrawal et al., GEPA (arXiv 2507.19457), its system-aware merge.
 *
 * @param ancestor the setup from which both have come.
 */
export function mergeSetups(
  first: ScoredSetup,
  second: ScoredSetup,
  ancestor: AgentSetup,
): AgentSetup | undefined {
  const [better, other] = (first.score >= second.score ? [first, second] : [second, first]).map(
    ({ setup }) => setup,
  )
  let [ofBetter, ofOther] = [false, false]
  const choose = <T>(of: (setup: AgentSetup) => T): T => {
    const [own, its] = [of(better), of(other)]
    const [ownChanged, itsChanged] = [own, its].map((part) => !isSame(part, of(ancestor)))
    ofBetter ||= ownChanged && !itsChanged
    ofOther ||= itsChanged && !ownChanged
    return ownChanged || !itsChanged ? own : its
  }
  const instructions = choose((setup) => setup.instructions)
  const names = new Set([better, other].flatMap(({ tools }) => Object.keys(tools ?? {})))
  const tools = [...names].flatMap((name): [string, Tool][] => {
    const tool = choose((setup) => setup.tools?.[name])
    return tool === undefined ? [] : [[name, tool]]
  })
  // Two tools may not have one name: names that were chosen apart may be the same.
  const shown = tools.map(([name, tool]) => tool.name ?? name)
  if (!ofBetter || !ofOther || new Set(shown).size < shown.length) return undefined
  return {
    ...better,
    ...(instructions !== undefined && { instructions }),
    ...(tools.length > 0 && { tools: Object.fromEntries(tools) }),
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
