import { compileStack } from '../tensor/index.ts'
import type { Feeds, HostData, HostTensor, InputSpec, Program, Tensor } from '../tensor/index.ts'

/** One of several trainings of the same kind that compute in one call. */
export interface BatchMember {
  /**
   * Compiles a graph that every member compiles, in the same order. A run waits until every member waits for a run, apart
   * from those that have left. Then one call computes all of them.
   *
   * @returns null if the graph cannot be stacked, because an operator has no rule in `stackGraph`
   */
  compile(
    inputs: Readonly<Record<string, InputSpec>>,
    build: (inputs: Record<string, Tensor>) => Readonly<Record<string, Tensor>>,
    name: string,
  ): Promise<Pick<Program, 'run' | 'release'> | null>
  /** The others no longer wait for this member. To be called when its training ends, however it ends. */
  leave(): void
}

/** A program for stacks, with its memory. */
interface Shared {
  program: Promise<Program | null>
  holders: number
  stacks: Map<string, Stack>
}

/** Stacks of a program whose memory is kept. Members that stop an update early make stacks of every length. */
const mostStacks = 4

/** Memory for one stack: the inputs and the outputs of all its calls. */
interface Stack {
  feeds: Record<string, HostTensor>
  results: Record<string, HostTensor>
}

interface Call {
  shared: Shared
  feeds: Feeds
  into: Feeds
  resolve: (results: Record<string, HostTensor>) => void
  reject: (error: unknown) => void
}

/**
 * Trainings that compute in one call. A small network costs more in calls than in arithmetic; a stack of many is large
 * enough for the runtime. The numbers of a member differ in their last digits from those of a training alone, and do not
 * depend on the other members.
 *
 * @example
 * const members = createBatch(seeds.length)
 * await Promise.all(members.map((member, i) => train(seeds[i], member).finally(() => member.leave())))
 */
export function createBatch(count: number): BatchMember[] {
  const programs = new Map<string, Shared>()
  let active = count
  /** Members that have not left and wait for a run. */
  const waiting = new Set<BatchMember>()
  let calls: Call[] = []

  function runIfAllWait(): void {
    if (waiting.size < active) return
    const due = calls
    calls = []
    waiting.clear()
    for (const group of grouped(due)) void runStacked(group)
  }

  return Array.from({ length: count }, (): BatchMember => {
    let compiled = 0
    const member: BatchMember = {
      async compile(inputs, build, name) {
        const key = `${compiled++} ${name}`
        const shared = programs.get(key) ?? {
          program: compileStack(inputs, build, { name, threads: 1 }),
          holders: 0,
          stacks: new Map(),
        }
        programs.set(key, shared)
        shared.holders++
        if ((await shared.program) === null) return null
        return {
          run: (feeds, into = {}) =>
            new Promise((resolve, reject) => {
              calls.push({ shared, feeds, into, resolve, reject })
              waiting.add(member)
              runIfAllWait()
            }),
          async release() {
            if (--shared.holders > 0) return
            programs.delete(key)
            await (await shared.program)?.release()
          },
        }
      },
      leave() {
        active--
        waiting.delete(member)
        runIfAllWait()
      },
    }
    return member
  })
}

/** Calls of one program with feeds of the same sizes. */
function grouped(calls: readonly Call[]): Call[][] {
  const groups: Call[][] = []
  for (const call of calls) {
    const group = groups.find(([{ shared, feeds }]) => shared === call.shared && sameSizes(feeds, call.feeds))
    if (group === undefined) groups.push([call])
    else group.push(call)
  }
  return groups
}

function sameSizes(a: Feeds, b: Feeds): boolean {
  for (const name in a) {
    const [own, other] = [a[name].shape, b[name].shape]
    if (own !== other && own.some((size, axis) => size !== other[axis])) return false
  }
  return true
}

async function runStacked(calls: readonly Call[]): Promise<void> {
  try {
    // The runtime sums a stack of one in another order. It is computed twice, so that its digits are those of any other.
    const stacked = calls.length === 1 ? [calls[0], calls[0]] : calls
    const { feeds, results, shared, key } = stackFor(stacked)
    for (const [name, { data }] of Object.entries(feeds))
      stacked.forEach((call, i) => data.set(call.feeds[name].data, i * call.feeds[name].data.length))
    const found = await (await shared.program)!.run(feeds, results)
    shared.stacks.set(key, { feeds, results: found })
    const own = calls.map(({ into }, i) => resultsOf(found, into, i, stacked.length))
    calls.forEach(({ resolve }, i) => resolve(own[i]))
  } catch (error) {
    for (const { reject } of calls) reject(error)
  }
}

/** The memory for calls of one program with feeds of the same sizes. */
function stackFor(calls: readonly Call[]): Stack & { shared: Shared; key: string } {
  const [{ shared, feeds }] = calls
  const key = `${calls.length} ${JSON.stringify(Object.values(feeds).map(({ shape }) => shape))}`
  const known = shared.stacks.get(key)
  if (known !== undefined) return { ...known, shared, key }
  if (shared.stacks.size >= mostStacks) shared.stacks.clear()
  return { feeds: stackOf(feeds, calls.length), results: {}, shared, key }
}

const sameKind = (data: HostData, length: number): HostData =>
  new (data.constructor as new (length: number) => HostData)(length)

const stackOf = (feeds: Feeds, count: number): Record<string, HostTensor> =>
  Object.fromEntries(
    Object.entries(feeds).map(([name, { data, shape }]) => [
      name,
      { data: sameKind(data, count * data.length), shape: [count, ...shape] },
    ]),
  )

/** Slice i of the results. Those named in `into` are written there and not returned. */
function resultsOf(results: Feeds, into: Feeds, i: number, count: number): Record<string, HostTensor> {
  const own: Record<string, HostTensor> = {}
  for (const [name, { data, shape, dtype }] of Object.entries(results)) {
    const length = data.length / count
    const part = data.subarray(i * length, (i + 1) * length)
    if (into[name] !== undefined) into[name].data.set(part)
    else own[name] = { data: part.slice(), shape: shape.slice(1), ...(dtype === undefined ? {} : { dtype }) }
  }
  return own
}
