import { refuse } from './fields.ts'

/** A request for samples; such of one group are drawn together. */
export interface SampleJob<Row, Result> {
  /** Samples of one group come from the same weights. */
  group: string
  rows: Row[]
  /** Only those of its batch are drawn with it, all of them, in the order of their index. */
  batch?: { id: string; index: number; count: number }
  /** Whether it needs no model that is trained: then it is drawn beside what is done with these. Asked when its turn has come; default false. */
  isApart?: () => boolean
  /** Draws the rows of several jobs; gives a result for each row. */
  draw: (rows: Row[]) => Promise<Result[]>
}

export interface WorkQueue {
  /** Work is carried out one piece after the other, in the order in which it came in; samples that are apart beside it. Throws `tinker-busy` when full. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Samples may be drawn earlier or later than other work: their weights stand still. */
  sample<Row, Result>(job: SampleJob<Row, Result>): Promise<Result[]>
  /** Refuses what comes, drops what has not begun, waits for what has. */
  close(): Promise<void>
}

interface Entry {
  work?: () => Promise<unknown>
  job?: SampleJob<unknown, unknown>
  since: number
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** Clients send samples one request each: so long is waited for others to come along, or for the rest of a batch. */
const gatherSeconds = 0.01
const batchSeconds = 30
const mostRows = 512

/** Both run at the same time, each with one thing after another. */
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

  /** What is next: one piece of work, or jobs whose rows are drawn together; undefined while all there is waits for others. */
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
