import { refuse } from './fields.ts'

/** A sampling request. Requests of one group are batched. */
export interface SampleJob<Row, Result> {
  /** Samples of one group have the same weights. */
  group: string
  rows: Row[]
  /** Exactly the requests of its batch are sampled with it, in the order of their index. */
  batch?: { id: string; index: number; count: number }
  /**
   * Whether it uses no model in training. It is then sampled concurrently with training. Evaluated when its turn comes. Default:
   * false.
   */
  isApart?: () => boolean
  /** Samples the rows of several jobs. Returns one result per row. */
  draw: (rows: Row[]) => Promise<Result[]>
}

export interface WorkQueue {
  /**
   * Runs work in order of arrival, one piece at a time. Independent samples run concurrently. Throws `tinker-busy` if the queue
   * is full.
   */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Samples may run earlier or later than other work, since their weights do not change. */
  sample<Row, Result>(job: SampleJob<Row, Result>): Promise<Result[]>
  /** Refuses new work, drops waiting work, finishes running work. */
  close(): Promise<void>
}

interface Entry {
  work?: () => Promise<unknown>
  job?: SampleJob<unknown, unknown>
  since: number
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** Clients send one request per sample. Seconds to wait for more of them, or for the rest of a batch. */
const gatherSeconds = 0.01
const batchSeconds = 30
const mostRows = 512

/** Both queues run concurrently, each one piece at a time. */
type QueueName = 'models' | 'apart'
const queues: readonly QueueName[] = ['models', 'apart']
const queueOf = ({ job }: Entry): QueueName => (job?.isApart?.() === true ? 'apart' : 'models')

export function createWorkQueue({ limit }: { limit: number }): WorkQueue {
  let waiting: Entry[] = []
  const running: Partial<Record<QueueName, Promise<void>>> = {}
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function add<T>(part: Pick<Entry, 'work' | 'job'>): Promise<T> {
    if (closed) throw refuse('tinker-closing', 'The server is shutting down')
    if (waiting.length >= limit) {
      const hint = 'Send less at the same time; clients of the protocol try again by themselves.'
      throw refuse('tinker-busy', `The server has ${waiting.length} requests waiting`, { hint })
    }
    return new Promise<T>((resolve, reject) => {
      waiting.push({ ...part, since: performance.now() / 1000, resolve, reject })
      wake()
    })
  }

  function wake(): void {
    clearTimeout(timer)
    for (const queue of queues) {
      if (running[queue] !== undefined) continue
      const here = waiting.filter((entry) => queueOf(entry) === queue)
      const next = choose(here)
      if (next === undefined) {
        if (here.length > 0) timer = setTimeout(wake, gatherSeconds * 1000).unref()
        continue
      }
      waiting = waiting.filter((entry) => !next.includes(entry))
      running[queue] = carryOut(next).finally(() => {
        delete running[queue]
        wake()
      })
    }
  }

  /** The next piece of work, or jobs to sample in one batch; undefined if everything waits. */
  function choose(entries: readonly Entry[]): Entry[] | undefined {
    const now = performance.now() / 1000
    for (const entry of entries) {
      const { job } = entry
      if (job === undefined) return [entry]
      const { batch } = job
      const age = now - entry.since
      if (batch === undefined) {
        if (age < gatherSeconds) continue
        let rows = 0
        return entries.filter((other) => {
          if (other.job === undefined || other.job.batch !== undefined || other.job.group !== job.group)
            return false
          rows += other.job.rows.length
          return other === entry || rows <= mostRows
        })
      }
      const members = entries.filter(
        (other) => other.job?.batch?.id === batch.id && other.job.group === job.group,
      )
      if (members.length < batch.count && age < batchSeconds) continue
      return members.sort((a, b) => (a.job?.batch?.index ?? 0) - (b.job?.batch?.index ?? 0))
    }
    return undefined
  }

  async function carryOut(entries: readonly Entry[]): Promise<void> {
    const [first] = entries
    try {
      if (first.work !== undefined) return first.resolve((await first.work()) as never)
      const jobs = entries.map(({ job }) => job as SampleJob<unknown, unknown>)
      const results = await jobs[0].draw(jobs.flatMap(({ rows }) => rows))
      let at = 0
      for (const [i, { rows }] of jobs.entries())
        entries[i].resolve(results.slice(at, (at += rows.length)) as never)
    } catch (error) {
      for (const { reject } of entries) reject(error)
    }
  }

  return {
    run: (work) => add({ work }),
    sample: (job) => add({ job: job as unknown as SampleJob<unknown, unknown> }),
    async close() {
      closed = true
      clearTimeout(timer)
      for (const { reject } of waiting) reject(refuse('tinker-closing', 'The server was shut down'))
      waiting = []
      await Promise.all(Object.values(running))
    },
  }
}
