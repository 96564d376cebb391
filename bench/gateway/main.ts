// What the gateway adds to the latency of 200 concurrent streams, beside a bare proxy of node:http: npm run bench:gateway [ROUNDS]
// The service, the bare proxy and the gateway are processes of their own; this one is the client. The three ways take turns, so
// that what else the machine does meets all of them. Writes docs/results/gateway.json.
import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const rounds = Number(process.argv[2] ?? 12)
const memoryRounds = Number(process.argv[3] ?? 20)
const streams = 200
const chunks = 40
const chunkMilliseconds = 50
/** In which the streams of a round begin. */
const spreadMilliseconds = 1000

interface Started {
  child: ChildProcess
  port: number
}

const started: Started[] = []

/** Starts a process of this folder, which reports its port. */
async function start(role: string, upstreamPort = 0): Promise<Started> {
  const child = fork(new URL('./server.ts', import.meta.url), [role, String(upstreamPort)], {
    execArgv: ['--import', 'tsx', '--expose-gc'],
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { port: number }).port))
    child.once('exit', (code) => reject(new Error(`the ${role} ended with ${code}`)))
  })
  const one = { child, port }
  started.push(one)
  return one
}

interface Latencies {
  /** Milliseconds from the request to the first chunk. */
  first: number[]
  /** Milliseconds from the sending of a chunk to its arrival. */
  chunk: number[]
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6
const agent = new Agent({ maxSockets: Infinity })
let asked = 0

/** One stream: every chunk says when the service sent it, by the clock that the processes of a machine share. */
async function stream(port: number, into: Latencies): Promise<void> {
  const question = JSON.stringify({
    model: 'paced',
    stream: true,
    messages: [
      { role: 'system', content: 'You are the agent of a benchmark. '.repeat(20) },
      { role: 'user', content: `Question ${asked++}` },
    ],
  })
  const began = now()
  await new Promise<void>((resolve, reject) => {
    const sent = request(
      {
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/chat/completions',
        agent,
        headers: { 'content-type': 'application/json', authorization: 'Bearer sk-bench' },
      },
      (answer) => {
        let isFirst = true
        answer.setEncoding('utf8')
        answer.on('data', (text: string) => {
          const arrived = now()
          for (const [, at] of text.matchAll(/"sent":([\d.]+)/g)) {
            into.chunk.push(arrived - Number(at))
            if (isFirst) into.first.push(arrived - began)
            isFirst = false
          }
        })
        answer.on('end', resolve)
        answer.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(question)
  })
}

async function round(port: number, into: Latencies): Promise<void> {
  await Promise.all(
    Array.from({ length: streams }, async (_, i) => {
      await sleep((i / streams) * spreadMilliseconds)
      await stream(port, into)
    }),
  )
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000
const summary = (values: readonly number[]) => ({
  median: rounded(quantile(values, 0.5)),
  p95: rounded(quantile(values, 0.95)),
})

interface Usage {
  /** Milliseconds of the processor since the start. */
  cpu: number
  /** Megabytes after a collection. */
  resident: number
  heap: number
  episodes: number
}

function usageOf({ child }: Started): Promise<Usage> {
  return new Promise((resolve) => {
    child.once('message', (message) => resolve(message as Usage))
    child.send('usage')
  })
}

/** In which the gateway ends the sessions of a round. */
const rest = (): Promise<void> => sleep(2500)

try {
  const service = await start('service')
  const bare = await start('bare', service.port)
  const gateway = await start('gateway', service.port)
  const ways = { direct: service, bare, gateway }
  const latencies = {
    direct: { first: [], chunk: [] } as Latencies,
    bare: { first: [], chunk: [] } as Latencies,
    gateway: { first: [], chunk: [] } as Latencies,
  }
  const cpu = { bare: 0, gateway: 0 }
  // The first rounds warm up the compilers of all processes.
  for (let i = -2; i < rounds; i++) {
    if (i === 0) for (const way of ['bare', 'gateway'] as const) cpu[way] -= (await usageOf(ways[way])).cpu
    for (const way of ['direct', 'bare', 'gateway'] as const) {
      const into = i < 0 ? { first: [], chunk: [] } : latencies[way]
      await round(ways[way].port, into)
      await rest()
    }
  }
  for (const way of ['bare', 'gateway'] as const) {
    cpu[way] += (await usageOf(ways[way])).cpu
    cpu[way] = rounded(cpu[way] / (rounds * streams))
  }
  const added = (way: 'bare' | 'gateway', kind: 'first' | 'chunk') => {
    const [own, direct] = [summary(latencies[way][kind]), summary(latencies.direct[kind])]
    return { median: rounded(own.median - direct.median), p95: rounded(own.p95 - direct.p95) }
  }
  const memory = []
  for (let i = 0; i < memoryRounds; i++) {
    await round(gateway.port, { first: [], chunk: [] })
    await rest()
    const { resident, heap, episodes } = await usageOf(gateway)
    memory.push({ resident, heap, episodes })
  }
  const result = {
    schema: 1,
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    processor: cpus()[0].model,
    cores: cpus().length,
    /** Of the machine at the end: the bench alone needs less than its cores. */
    loadAverage: rounded(loadavg()[0]),
    streams,
    chunks,
    chunkMilliseconds,
    rounds,
    milliseconds: Object.fromEntries(
      Object.entries(latencies).map(([way, { first, chunk }]) => [
        way,
        { first: summary(first), chunk: summary(chunk) },
      ]),
    ),
    added: {
      bare: { first: added('bare', 'first'), chunk: added('bare', 'chunk') },
      gateway: { first: added('gateway', 'first'), chunk: added('gateway', 'chunk') },
    },
    ratio: Object.fromEntries(
      (['first', 'chunk'] as const).map((kind) => {
        const [a, b] = [added('gateway', kind), added('bare', kind)]
        return [kind, { median: rounded(a.median / b.median), p95: rounded(a.p95 / b.p95) }]
      }),
    ),
    /** Milliseconds of the processor for each stream, with what happens after it. */
    cpuOfStream: cpu,
    /** Megabytes after rounds of the gateway alone. */
    memory,
  }
  console.log(JSON.stringify(result, null, 1))
  writeFileSync(
    new URL('../../docs/results/gateway.json', import.meta.url),
    `${JSON.stringify(result, null, 1)}\n`,
  )
} finally {
  agent.destroy()
  for (const { child } of started) child.kill()
}
