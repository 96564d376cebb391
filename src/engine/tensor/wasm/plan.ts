import { asMemoryError } from '../../../memory-error.ts'
import { dimValue, sizeOf } from '../shape.ts'
import type { Attributes, Bindings, DType, HostData, Tensor } from '../node.ts'
import { reducedSizes, hostSteps } from './host-steps.ts'
import type { Place } from './host-steps.ts'
import { assembleModule } from './assembler.ts'
import type { WasmFunction } from './assembler.ts'
import { matmul, matmulTransposed, transpose } from './matrix-products.ts'
import type { Schedule, Task } from './schedule.ts'

/** One step as plain data, so that it can be sent to another thread: a kernel, a host loop, or filling with zeros. */
type PlanStep =
  | { kernel: string; given: readonly number[] }
  | { host: string; attributes: Attributes; place: Place }
  | { zeros: readonly [from: number, to: number] }

/** The steps for fixed sizes. Positions count numbers from the beginning of the memory. */
export interface Plan {
  readonly size: number
  /** Values that do not change between runs. */
  readonly filled: readonly { at: number; count: number; value: number }[]
  readonly constants: readonly { at: number; data: HostData }[]
  readonly steps: readonly PlanStep[]
  readonly bindings: Bindings
  readonly inputs: readonly { name: string; at: number }[]
  readonly outputs: readonly {
    name: string
    at: number
    size: number
    shape: readonly number[]
    dtype: DType
  }[]
}

/** From this number of rows on, transposing the right side of a product first is faster. */
const manyRows = 32

/** All kernels that the plans of a schedule call. */
export const kernelsOf = ({ tasks }: Schedule): WasmFunction[] => [
  matmul,
  matmulTransposed,
  transpose,
  ...tasks.flatMap((task) => (task.kind === 'fused' ? [task.fused] : [])),
]

/** Allocates positions of arrays, at multiples of four numbers. Memory of values that are not read again is reused. */
function createPlaces() {
  const free = new Map<number, number[]>()
  let end = 0
  const room = (size: number): number => Math.max(4, Math.ceil(size / 4) * 4)
  const lasting = (size: number): number => {
    end += room(size)
    return end - room(size)
  }
  return {
    /** Allocates memory that is never reused. */
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

export function planFor(
  { tasks, inputs, outputs, constants, holder }: Schedule,
  names: readonly string[],
  bindings: Bindings,
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
  const steps: PlanStep[] = []
  for (const task of tasks) {
    const out = place(task.node)
    const reads = task.reads.map((read) => at.get(read)!)
    const shapes = {
      node: task.node,
      shape: shapeOf(task.node),
      inputs: (task.kind === 'product' ? task.product : task.node).inputs.map(shapeOf),
    }
    if (sizeOf(shapes.shape) > 0)
      steps.push(...stepsFor(task, { out, reads, zeros, fill, ...shapes }, places))
    for (const read of new Set([...task.reads, task.node]))
      if (!lasting.has(read) && (lastRead.get(read) ?? task) === task)
        places.give(at.get(read)!, sizeOf(shapeOf(read)))
  }
  return {
    size: places.end(),
    filled,
    constants: constants.map((node) => ({
      at: at.get(node)!,
      data: node.attributes['data'] as HostData,
    })),
    bindings,
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

function stepsFor(
  task: Task,
  { out, reads, zeros, fill, shape, inputs }: Placed,
  places: ReturnType<typeof createPlaces>,
): PlanStep[] {
  const bytes = (place: number): number => place * 4
  const nothing: PlanStep[] = [{ zeros: [out, out + sizeOf(shape)] }]
  switch (task.kind) {
    case 'fused':
      return [
        {
          kernel: task.fused.name,
          given: [out * 4, Math.ceil(sizeOf(shape) / 4), ...reads.map(bytes)],
        },
      ]
    case 'sum': {
      const [rows, count, columns] = reducedSizes(
        task.node.attributes['axes'] as readonly number[],
        inputs[0],
      )
      const row = fill(Math.max(1, count), task.node.op.name === 'mean' ? 1 / count : 1)
      const [x] = reads
      if (count === 0) return nothing
      const given =
        columns === 1
          ? [...[x, count, 1, row, zeros, out].map(bytes), rows, count, 1]
          : [...[row, 0, 1, x, zeros, out].map(bytes), 1, count, columns]
      return [{ kernel: 'matmul', given }]
    }
    case 'product': {
      const { transposeA, transposeB } = task.product.attributes
      const [a, b, row = zeros] = reads
      const columns = shape.at(-1)!
      const rows = sizeOf(shape) / columns
      const inner = inputs[0].at(transposeA === true ? -2 : -1)!
      const [aRow, aInner] = transposeA === true ? [1, rows] : [inner, 1]
      if (inner === 0) return nothing
      if (transposeB === true && rows < manyRows)
        return [{ kernel: 'matmulTransposed', given: [...[a, b, row, out].map(bytes), rows, inner, columns] }]
      const product = (right: number): PlanStep => ({
        kernel: 'matmul',
        given: [a, aRow, aInner, right, row, out].map(bytes).concat(rows, inner, columns),
      })
      if (transposeB !== true) return [product(b)]
      const turned = places.take(inner * columns)
      places.give(turned, inner * columns)
      return [{ kernel: 'transpose', given: [...[b, turned].map(bytes), columns, inner] }, product(turned)]
    }
    case 'host': {
      const place = { inputs: reads.map((read, i) => ({ at: read, shape: inputs[i] })), out, shape }
      return [{ host: task.node.op.name, attributes: task.node.attributes, place }]
    }
  }
}

/** A function of a module. It takes numbers and returns nothing. */
export type Kernel = (...numbers: number[]) => void

/** The memory of functions, as numbers. */
export interface Machine {
  /** The whole memory. A new array after `reserve` has grown it. */
  readonly numbers: Float32Array
  readonly kernels: Readonly<Record<string, Kernel>>
  /**
   * Grows the memory to this many numbers. Growing makes every typed array of the process slower from then on,
   * because V8 then expects detached arrays (12 of 45 ns of a step of CartPole). So reserve enough in the first
   * call.
   */
  readonly reserve: (count: number) => void
}

/** The part of the global `WebAssembly` that is used here. The types of Node 20 lack it. */
interface Engine {
  Memory: new (options: { initial: number }) => { buffer: ArrayBuffer; grow: (pages: number) => number }
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  Instance: new (module: object, imports: object) => { exports: Record<string, Kernel> }
}

const numbersInPage = 16_384

/** Modules that were compiled last, and the most that are kept. */
const compiled: { bytes: Uint8Array<ArrayBuffer>; module: object }[] = []
const mostModules = 32

/**
 * Compiles a module, or returns that of equal bytes. Many trainings of one kind in a process, one for each seed, then
 * share one module: the engine translates and optimises its functions once.
 */
function moduleOf(bytes: Uint8Array<ArrayBuffer>, { Module }: Engine): object {
  const known = compiled.find((each) => sameBytes(each.bytes, bytes))
  if (known !== undefined) return known.module
  if (compiled.length >= mostModules) compiled.shift()
  const module = new Module(bytes)
  compiled.push({ bytes, module })
  return module
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i])

/** Assembles functions and allocates a memory of this many numbers for them. */
export const instantiate = (functions: readonly WasmFunction[], room = 0): Machine =>
  loadModule(assembleModule(functions), room)

/** @throws AgogeError `memory-budget` if the system gives no memory */
function allocated<T>(allocate: () => T): T {
  try {
    return allocate()
  } catch (cause) {
    throw asMemoryError(cause)
  }
}

/** The same for an assembled module. */
export function loadModule(bytes: Uint8Array<ArrayBuffer>, room = 0): Machine {
  const engine = (globalThis as unknown as { WebAssembly: Engine }).WebAssembly
  const memory = allocated(() => new engine.Memory({ initial: Math.max(1, Math.ceil(room / numbersInPage)) }))
  const { exports } = new engine.Instance(moduleOf(bytes, engine), { env: { memory } })
  let numbers = new Float32Array(memory.buffer)
  return {
    get numbers() {
      return numbers
    },
    kernels: exports,
    reserve(count) {
      const missing = Math.ceil((count - numbers.length) / numbersInPage)
      if (missing <= 0) return
      allocated(() => memory.grow(missing))
      numbers = new Float32Array(memory.buffer)
    },
  }
}

/** A plan in the memory of a machine. Several plans may share it. */
export interface RunnablePlan {
  readonly plan: Plan
  readonly machine: Machine
  /** Writes the values that do not change between runs. */
  prepare(): void
  run(): void
}

/** Turns the steps of a plan into calls of the machine's kernels. */
export function runnable(plan: Plan, machine: Machine): RunnablePlan {
  machine.reserve(plan.size)
  const calls = plan.steps.map((step) => callOf(step, plan, machine))
  return {
    plan,
    machine,
    prepare() {
      const { numbers } = machine
      for (const { at, count, value } of plan.filled) numbers.fill(value, at, at + count)
      for (const { at, data } of plan.constants) numbers.set(data, at)
    },
    run() {
      for (const call of calls) call()
    },
  }
}

function callOf(step: PlanStep, { bindings }: Plan, machine: Machine): () => void {
  if ('kernel' in step) {
    const kernel = machine.kernels[step.kernel]
    const { given } = step
    return () => kernel(...given)
  }
  if ('zeros' in step) {
    const [from, to] = step.zeros
    return () => void machine.numbers.fill(0, from, to)
  }
  const run = hostSteps[step.host](step, step.place, bindings)
  return () => run(machine.numbers)
}
