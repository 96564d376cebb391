import type { ArraySpace, World } from '../environment/index.ts'
import { algorithmsFor, arrayWorlds } from '../training/arrays/index.ts'
import type { Console } from './console.ts'
import { table } from './table.ts'

/** `agoge envs`: the worlds over arrays of numbers, their spaces, what can be varied, and who can act in them. */
export function runEnvs({ json }: { json?: boolean }, { out }: Console): void {
  const worlds = Object.entries(arrayWorlds)
  if (json === true) {
    out(
      JSON.stringify(
        worlds.map(([name, world]) => describe(name, world)),
        null,
        2,
      ),
    )
    return
  }
  const rows = worlds.map(([name, world]) => [
    name,
    space(world.observation),
    space(world.action),
    world.maxSteps === undefined ? '–' : String(world.maxSteps),
    Object.keys(world.context).join(' '),
    algorithmsFor(world).join(' '),
  ])
  out(table(['world', 'observation', 'action', 'steps', 'context', 'algorithms'], rows))
}

function describe(name: string, world: World) {
  return {
    name,
    observation: plain(world.observation),
    action: plain(world.action),
    maxSteps: world.maxSteps ?? null,
    masked: world.mask !== undefined,
    context: world.context,
    algorithms: algorithmsFor(world),
  }
}

/** JSON has neither typed arrays nor infinities: unbounded is null. */
function plain(given: ArraySpace): unknown {
  if (given.type !== 'box') return given
  const bounds = (values: Float64Array) => Array.from(values, (x) => (Number.isFinite(x) ? x : null))
  return { ...given, low: bounds(given.low), high: bounds(given.high) }
}

function space(given: ArraySpace): string {
  switch (given.type) {
    case 'box':
      return `box(${given.shape.join('x')})`
    case 'discrete':
      return `discrete(${given.n})`
    case 'multi-discrete':
      return `multi-discrete(${given.counts.join(' ')})`
    case 'multi-binary':
      return `multi-binary(${given.n})`
  }
}
