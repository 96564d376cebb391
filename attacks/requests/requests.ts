import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../src/engine/random/index.ts'
import { writeTinyCheckpoint } from '../../src/llm/agent/testing/tiny-checkpoint.ts'
import { type AttackOptions, type AttackPart, type AttackResult, longestAllowed } from '../attack.ts'
import { milliseconds } from '../clock.mjs'
import type { Section } from '../run-cli.ts'
import { crowd, cut, givenUp, hangUps, pipelined, slow } from './connection-kinds.ts'
import { chatFields, drawnFields, messageFields, textFields } from './endpoint-fields.ts'
import { amounts, conversations, streams } from './endpoint-requests.ts'
import { forms, tools } from './endpoint-schemas.ts'
import { headers, keys, longBodies, paths, strangers } from './http-kinds.ts'
import { badJson, costlyJson, strangeJson, strangeText } from './json-kinds.ts'
import { countsOf, type Kind, type KindContext, type Tried } from './kinds.ts'
import { endTarget, sectionsOf, startEndpoint, startTinker, type Target } from './targets.ts'
import { tinkerFields } from './tinker-fields.ts'
import { largeBatches, manyModels, tooMuch } from './tinker-amounts.ts'
import { checkpoints } from './tinker-checkpoints.ts'
import { calls, numbers } from './tinker-requests.ts'
import { protobuf, tensors } from './tinker-tensors.ts'

/** A server, and what it is attacked with. */
interface Plan {
  name: string
  protocol: 'endpoint' | 'tinker'
  start: () => Promise<Target>
  kinds: readonly Kind[]
}

/** Abuse of the OpenAI-compatible endpoint, for a server with a key. */
export const endpointKinds: readonly Kind[] = [
  paths('/v1'),
  headers,
  keys,
  badJson,
  strangeJson,
  strangeText,
  longBodies(2 ** 20),
  costlyJson(2 ** 20),
  chatFields,
  messageFields,
  textFields,
  drawnFields,
  amounts,
  conversations,
  streams,
  forms,
  tools,
  cut,
  hangUps({ max_tokens: 400, n: 32, temperature: 1 }),
  crowd(200),
  pipelined,
  slow,
  givenUp,
]

export const tinkerKinds = (folder: string): readonly Kind[] => [
  paths('/api/v1'),
  headers,
  keys,
  badJson,
  strangeJson,
  strangeText,
  longBodies(2 ** 20),
  costlyJson(2 ** 20),
  ...tinkerFields,
  calls,
  checkpoints(folder),
  numbers,
  tensors,
  protobuf,
  tooMuch,
  largeBatches,
  manyModels,
  cut,
  hangUps({}),
  crowd(200),
  pipelined,
  slow,
  givenUp,
]

function plansOf(folder: string): Plan[] {
  const place = (name: string): string => {
    const path = join(folder, name)
    mkdirSync(path, { recursive: true })
    return path
  }
  const endpoint = place('endpoint')
  const tinker = place('tinker')
  return [
    {
      name: 'endpoint',
      protocol: 'endpoint',
      start: () => startEndpoint({ folder: endpoint, name: 'endpoint' }),
      kinds: endpointKinds,
    },
    {
      name: 'endpoint with a chat template',
      protocol: 'endpoint',
      start: async () => {
        const model = await writeTinyCheckpoint(place('public'))
        return startEndpoint({ folder: place('public'), name: 'public', model })
      },
      kinds: [messageFields, conversations, forms, tools],
    },
    {
      name: 'endpoint without a key',
      protocol: 'endpoint',
      start: () => startEndpoint({ folder: endpoint, name: 'open', withKey: false }),
      kinds: [strangers],
    },
    {
      name: 'Tinker',
      protocol: 'tinker',
      start: () => startTinker({ folder: tinker, name: 'tinker' }),
      kinds: tinkerKinds(tinker),
    },
    {
      name: 'Tinker without a key',
      protocol: 'tinker',
      start: () => startTinker({ folder: place('tinker-open'), name: 'open', withKey: false }),
      kinds: [strangers],
    },
  ]
}

/** Malformed and abusive requests to both servers of `agoge serve`. */
export const requests: AttackPart = {
  name: 'requests',
  about: 'malformed and abusive requests to both servers of `agoge serve`, beside honest ones',
  async run(options) {
    const counts = { endpoint: 0, tinker: 0 }
    for (const plan of plansOf(options.folder)) counts[plan.protocol] += await runPlan(plan, options)
    return { 'requests to the endpoint': counts.endpoint, 'requests to the Tinker server': counts.tinker }
  },
}

/** Attacks one server with every kind. Returns the number of requests. */
async function runPlan({ name, start, kinds }: Plan, options: AttackOptions): Promise<number> {
  const { seed, quick, signal, done, report } = options
  const nameOf = (kind: string): string => `${name}: ${kind}`
  const known = new Map(done.map((result) => [result.name, result]))
  const left = kinds.filter((kind) => !known.has(nameOf(kind.name)))
  let count = kinds.reduce(
    (sum, kind) => sum + (Number.parseInt(known.get(nameOf(kind.name))?.happened ?? '0', 10) || 0),
    0,
  )
  let target: Target | undefined
  let answer = ''
  try {
    for (const kind of left) {
      if (signal.aborted) break
      if (target === undefined) {
        target = await start()
        answer = await target.honest()
      }
      const random = createRandom(seed, 'requests', name, kind.name)
      const { result, requests: sent } = await attack(kind, { target, quick, random, signal }, answer)
      if (signal.aborted) break
      count += sent.length
      if (sent.length > 0) report({ ...result, name: nameOf(kind.name) })
      if (!result.alive) {
        // What follows is tried on a new server.
        target.running.kill()
        await target.running.ended.catch(() => {})
        target = undefined
      }
    }
    if (target === undefined || known.has(nameOf('its log and its end'))) return count
    const problem = await endTarget(target)
    const happened =
      problem ?? 'it ended as asked; its log has no key, no stack trace and no control characters'
    report({ name: nameOf('its log and its end'), held: problem === undefined, happened })
    return count
  } finally {
    target?.running.kill()
  }
}

/** One kind of abuse: what came of its requests, and whether an honest one has the same answer as before. */
async function attack(
  kind: Kind,
  context: KindContext,
  answer: string,
): Promise<{ result: Omit<AttackResult, 'name'> & { alive: boolean }; requests: readonly Tried[] }> {
  const { target } = context
  const from = milliseconds()
  const tried = await kind.run(context)
  const now = await target.honest()
  // The watcher looks every two milliseconds.
  await sleep(20)
  const worst = longestOf(sectionsOf(target, from))
  const wrong = tried.filter(({ problem }) => problem !== undefined)
  const alive = now === answer
  const problems = [
    ...(wrong.length === 0
      ? []
      : [
          `${wrong.length} not as promised: ${wrong
            .slice(0, 3)
            .map(({ what, problem }) => `${what}: ${problem}`)
            .join('; ')}`,
        ]),
    ...(alive ? [] : [`an honest request afterwards: ${now.slice(0, 200)}`]),
    ...(worst.milliseconds <= longestAllowed.endpoint
      ? []
      : [`a section of ${worst.milliseconds.toFixed(0)} ms at ${atThat(tried, worst)}`]),
  ]
  const happened = [`${tried.length} requests: ${countsOf(tried)}`, ...problems].join('; ')
  return {
    result: { held: problems.length === 0, happened, longestSection: worst.milliseconds, alive },
    requests: tried,
  }
}

const longestOf = (sections: readonly Section[]): Section =>
  sections.reduce((longest, section) => (section.milliseconds > longest.milliseconds ? section : longest), {
    begun: 0,
    ended: 0,
    milliseconds: 0,
  })

/** The request during which a section ended. */
function atThat(tried: readonly Tried[], { ended }: Section): string {
  const date = Date.now() - milliseconds() + ended
  return tried.findLast(({ time }) => time <= date)?.what ?? 'its beginning'
}
