import { bindSizes } from '../bindings.ts'
import { dimValue } from '../dimension.ts'
import { input } from '../operators/input.ts'
import { sizeOf } from '../shape.ts'
import { simplify } from '../simplify.ts'
import type { Bindings, DType, Feeds, HostData, HostTensor, Shape, Tensor } from '../types.ts'
import { hostSteps, reducedSizes } from './host-steps.ts'
import { instantiate } from './instantiate.ts'
import type { Machine } from './instantiate.ts'
import { matmul, matmulTransposed, transpose } from './matrix-products.ts'
import { schedule } from './schedule.ts'
import type { Schedule, Task } from './schedule.ts'

/** A graph that runs at once, on kernels made for it in WebAssembly: for networks so small that a call of the runtime costs more. */
export interface SmallProgram {
  /** Values of the outputs by name, copied; those named in `into` are written there and not given back. */
  run(feeds: Feeds, into?: Feeds): Record<string, HostTensor>
  /** Number of kernels. */
  readonly nodes: number
}

export interface SmallProgramOptions {
  /** Inputs of a fixed size (parameters) may have at most so many numbers; by default 128 x 128. */
  largest?: number
}

interface Plan {
  /** Writes what does not change from run to run. */
  prepare: () => void
  steps: readonly (() => void)[]
  inputs: readonly { name: string; at: number }[]
  outputs: readonly { name: string; at: number; size: number; shape: readonly number[]; dtype: DType }[]
}

/** Plans that are kept, one for each set of sizes. */
const mostPlans = 16
/** From so many rows on it pays to transpose the right side of a product first. */
const manyRows = 32

/**
 * Compiles a graph to kernels in WebAssembly with four numbers to an instruction, on one thread: the same bits on every
 * machine. Null where it is too large to gain by it, or an operator has no kernel; then there is `compile`.
 */
export function smallProgram(
  inputs: Readonly<Record<string, { shape: Shape; dtype?: DType }>>,
  build: (inputs: Record<string, Tensor>) => Readonly<Record<string, Tensor>>,
  { largest = 128 * 128 }: SmallProgramOptions = {},
): SmallProgram | null {
  const traced = Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, dtype }]) => [name, input(name, shape, dtype)]),
  )
  const signatures = Object.entries(traced).map(([name, { shape, dtype }]) => ({ name, shape, dtype }))
  const isLarge = (shape: Shape): boolean =>
    shape.every((dim) => typeof dim === 'number') && sizeOf(shape) > largest
  if (signatures.some(({ shape }) => isLarge(shape))) return null
  const built = build(traced)
  const names = Object.keys(built)
  const found = schedule(simplify(Object.values(built)))
  if (found === null) return null
  const machine = load(found)
  const plans = new Map<string, Plan>()
  let prepared: Plan | undefined
  let views: readonly Float32Array[] = []

  return {
    nodes: found.tasks.length,
    run(feeds, into = {}) {
      const bindings = bindSizes(signatures, feeds)
      const key = [...bindings.values()].join()
      let plan = plans.get(key)
      if (plan === undefined) {
        if (plans.size >= mostPlans) plans.clear()
        plan = planFor(found, names, bindings, machine)
        plans.set(key, plan)
      }
      // Plans work in the same memory.
      if (plan !== prepared) {
        plan.prepare()
        prepared = plan
        views = plan.outputs.map(({ at, size }) => machine.numbers.subarray(at, at + size))
      }
      for (const { name, at } of plan.inputs) machine.numbers.set(feeds[name].data, at)
      for (const step of plan.steps) step()
      const results: Record<string, HostTensor> = {}
      plan.outputs.forEach(({ name, shape, dtype }, i) => {
        const target = into[name]
        if (target === undefined) results[name] = { data: converted(views[i].slice(), dtype), shape, dtype }
        else target.data.set(views[i])
      })
      return results
    },
  }
}

const converted = (data: Float32Array, dtype: DType): HostData =>
  dtype === 'float32' ? data : dtype === 'int32' ? Int32Array.from(data) : Uint8Array.from(data)

/** Of the kernel of a fused task. */
const fusedName = (task: Task): string => `fused${task.node.id}`

const load = ({ tasks }: Schedule): Machine =>
  instantiate([
    matmul,
    matmulTransposed,
    transpose,
    ...tasks.flatMap((task) => (task.kind === 'fused' ? [task.fused.define(fusedName(task))] : [])),
  ])

/** Places of arrays, in numbers, each beginning at a multiple of four; what is not read again makes room. */
function createPlaces() {
  const free = new Map<number, number[]>()
  let end = 0
  const room = (size: number): number => Math.max(4, Math.ceil(size / 4) * 4)
  const lasting = (size: number): number => {
    end += room(size)
    return end - room(size)
  }
  return {
    /** One that nothing else gets. */
    lasting,
    take(size: number): number {
      const known = free.get(room(size))?.pop()
      return known ?? lasting(size)
    },
    give(at: number, size: number): void {
      free.set(room(size), [...(free.get(room(size)) ?? []), at])
    },
    end: () => end,
  }
}

function planFor(
  { tasks, inputs, outputs, constants, holder }: Schedule,
  names: readonly string[],
  bindings: Bindings,
  machine: Machine,
): Plan {
  const shapeOf = ({ shape }: Tensor): number[] => shape.map((dim) => dimValue(dim, bindings))
  const places = createPlaces()
  const at = new Map<Tensor, number>()
  const place = (node: Tensor): number => {
    at.set(node, places.take(sizeOf(shapeOf(node))))
    return at.get(node)!
  }
  for (const node of [...inputs, ...constants]) place(node)
  const lasting = new Set([...inputs, ...constants, ...outputs.map(holder)])
  const lastRead = new Map<Tensor, Task>()
  for (const task of tasks) for (const read of task.reads) lastRead.set(read, task)
  const widest = Math.max(1, ...tasks.map(({ node }) => shapeOf(node).at(-1) ?? 1))
  const filled: { at: number; count: number; value: number }[] = []
  /** A row of one number. */
  const fill = (count: number, value: number): number => {
    filled.push({ at: places.lasting(count), count, value })
    return filled.at(-1)!.at
  }
  const zeros = fill(widest, 0)
  const steps: (() => void)[] = []
  for (const task of tasks) {
    const out = place(task.node)
    const reads = task.reads.map((read) => at.get(read)!)
    const shapes = {
      node: task.node,
      shape: shapeOf(task.node),
      inputs: (task.kind === 'product' ? task.product : task.node).inputs.map(shapeOf),
    }
    if (sizeOf(shapes.shape) > 0)
      steps.push(stepFor(task, { out, reads, zeros, fill, ...shapes }, bindings, machine, places))
    for (const read of new Set([...task.reads, task.node]))
      if (!lasting.has(read) && (lastRead.get(read) ?? task) === task)
        places.give(at.get(read)!, sizeOf(shapeOf(read)))
  }
  machine.reserve(places.end())
  return {
    prepare() {
      const { numbers } = machine
      for (const { at, count, value } of filled) numbers.fill(value, at, at + count)
      for (const node of constants) numbers.set(node.attributes['data'] as HostData, at.get(node))
    },
    steps,
    inputs: inputs.map((node) => ({ name: node.attributes['name'] as string, at: at.get(node)! })),
    outputs: outputs.map((node, i) => {
      const shape = shapeOf(node)
      return { name: names[i], at: at.get(holder(node))!, size: sizeOf(shape), shape, dtype: node.dtype }
    }),
  }
}

interface Placed {
  out: number
  reads: readonly number[]
  zeros: number
  fill: (count: number, value: number) => number
  shape: readonly number[]
  inputs: readonly (readonly number[])[]
}

function stepFor(
  task: Task,
  { out, reads, zeros, fill, shape, inputs }: Placed,
  bindings: Bindings,
  machine: Machine,
  places: ReturnType<typeof createPlaces>,
): () => void {
  const { kernels } = machine
  const bytes = (place: number): number => place * 4
  switch (task.kind) {
    case 'fused': {
      const kernel = kernels[fusedName(task)]
      const given = [out * 4, Math.ceil(sizeOf(shape) / 4), ...reads.map(bytes)]
      return () => kernel(...given)
    }
    case 'sum': {
      const [rows, count, columns] = reducedSizes(
        task.node.attributes['axes'] as readonly number[],
        inputs[0],
      )
      const row = fill(Math.max(1, count), task.node.op.name === 'mean' ? 1 / count : 1)
      const [x] = reads
      const given =
        columns === 1
          ? [...[x, count, 1, row, zeros, out].map(bytes), rows, count, 1]
          : [...[row, 0, 1, x, zeros, out].map(bytes), 1, count, columns]
      if (count === 0) return () => void machine.numbers.fill(0, out, out + sizeOf(shape))
      return () => kernels['matmul'](...given)
    }
    case 'product': {
      const { transposeA, transposeB } = task.product.attributes
      const [a, b, row = zeros] = reads
      const columns = shape.at(-1)!
      const rows = sizeOf(shape) / columns
      const inner = inputs[0].at(transposeA === true ? -2 : -1)!
      const [aRow, aInner] = transposeA === true ? [1, rows] : [inner, 1]
      if (inner === 0) return () => void machine.numbers.fill(0, out, out + sizeOf(shape))
      if (transposeB === true && rows < manyRows) {
        const given = [...[a, b, row, out].map(bytes), rows, inner, columns]
        return () => kernels['matmulTransposed'](...given)
      }
      const given = (right: number): number[] =>
        [a, aRow, aInner, right, row, out].map(bytes).concat(rows, inner, columns)
      if (transposeB !== true) {
        const plain = given(b)
        return () => kernels['matmul'](...plain)
      }
      const turned = places.take(inner * columns)
      places.give(turned, inner * columns)
      const [turn, multiply] = [[...[b, turned].map(bytes), columns, inner], given(turned)]
      return () => {
        kernels['transpose'](...turn)
        kernels['matmul'](...multiply)
      }
    }
    case 'host': {
      const place = { inputs: reads.map((read, i) => ({ at: read, shape: inputs[i] })), out, shape }
      const step = hostSteps[task.node.op.name](task.node, place, bindings)
      return () => step(machine.numbers)
    }
  }
}
