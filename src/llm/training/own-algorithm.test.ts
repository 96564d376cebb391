import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkDefinition } from '../algorithm/check-definition.ts'
import type { losses } from '../algorithm/catalogue.ts'
import { defineAlgorithm } from '../algorithm/define-algorithm.ts'
import type { AlgorithmDefinition } from '../algorithm/define-algorithm.ts'
import { defineLoss } from '../algorithm/define.ts'
import { sumTokens } from '../algorithm/losses/tokens.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import { boxJob } from './testing/box-job.ts'
import { train } from './train.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'agoge-own-algorithm-'))
const model = join(root, 'model')
mkdirSync(join(repository, '.agoge'), { recursive: true })
const copied = mkdtempSync(join(repository, '.agoge', 'recipe-'))

beforeAll(async () => {
  const fresh = (await boxJob(root).backend()) as LocalBackend
  await fresh.export(model)
  await fresh.dispose()
})
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
  rmSync(copied, { recursive: true, force: true })
})

const recipe = /## Add an algorithm\n([\s\S]*?)(?=\n## |$(?![\s\S]))/.exec(
  readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8'),
)![1]

/** The file of the recipe, from another folder. */
async function recipeModule(): Promise<Record<string, unknown>> {
  const place = join(repository, /`(src\/llm\/algorithm\/losses\/\w+\.ts)`, say/.exec(recipe)![1])
  const code = /```ts\n([\s\S]*?)```/.exec(recipe)![1]
  const file = join(copied, 'recipe.ts')
  const moved = code.replaceAll(/from '(\.[^']+)'/g, (_, specifier: string) => {
    const path = relative(copied, resolve(dirname(place), specifier))
    return `from '${path.replaceAll('\\', '/')}'`
  })
  writeFileSync(file, moved)
  return (await import(file)) as Record<string, unknown>
}

/** Trains for a step, then resumes. Returns the run's record. */
async function trainStep(
  algorithm: AlgorithmDefinition,
  out: string,
  resume: boolean,
): Promise<Record<string, unknown>> {
  const { environment, tasks, plan } = boxJob(root, {
    demonstrations: { get: 6, put: 6 },
    checkpointEvery: 1,
    warmStart: { learningRate: 0.02, epochs: 1, batch: 12, validateEvery: 100, patience: 1 },
    tasks: { validation: 2, test: 2, unseenParaphrases: 0 },
  })
  const stop = new AbortController()
  const run = train({
    environment,
    tasks,
    plan,
    model,
    algorithm,
    out,
    resume,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.type === 'step' && event.phase === 'rl') stop.abort(new Error('enough'))
    },
  })
  await expect(run).rejects.toThrow('enough')
  return JSON.parse(readFileSync(join(out, 'config.json'), 'utf8')) as Record<string, unknown>
}

test('the recipe of CONTRIBUTING.md is a definition that passes the checks, and names files that exist', async () => {
  const { tanhDefinition } = (await recipeModule()) as { tanhDefinition: typeof losses.ppo }
  expect(checkDefinition(tanhDefinition)).toEqual([])
  const named = [...recipe.matchAll(/`(src\/[\w/.-]+)`/g)].map(([, path]) => path)
  expect(named.length).toBeGreaterThan(4)
  for (const path of named)
    expect(existsSync(join(repository, path)) || path.endsWith('/tanh.ts'), path).toBe(true)
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const [, name] of recipe.matchAll(/`npm run ([\w:-]+)`/g)) expect(scripts).toHaveProperty([name])
})

test('a program trains with the loss of the recipe, and with one that is defined in place', async () => {
  const { tanhDefinition } = (await recipeModule()) as { tanhDefinition: typeof losses.ppo }
  const { settings } = tanhDefinition.preset!
  const algorithm: AlgorithmDefinition = {
    kind: 'algorithm',
    name: 'tanh',
    about: tanhDefinition.about,
    losses: [tanhDefinition],
    settings,
  }
  expect(await trainStep(algorithm, join(root, 'recipe'), false)).toMatchObject({
    algorithm: 'tanh',
    algorithmSettings: settings,
  })

  const plain = defineLoss({
    name: 'plain',
    about: 'REINFORCE, scaled',
    formula: '-s A l',
    settings: { scale: { type: 'number', above: 0 } },
    compute: (inputs, { scale }: { scale: number }) =>
      sumTokens(inputs, (_, advantage, difference) => ({
        loss: -scale * advantage * difference,
        derivative: -scale * advantage,
      })),
    cases: [{ settings: { scale: 2 } }],
  })
  const inPlace = defineAlgorithm({
    name: 'plain',
    about: 'REINFORCE against the mean of the others',
    losses: [plain],
    settings: {
      advantage: { name: 'rloo' },
      loss: { name: 'plain', scale: 0.5 },
      aggregation: { mode: 'token-mean' },
    },
  })
  for (const resume of [false, true])
    expect(await trainStep(inPlace, join(root, 'plain'), resume)).toMatchObject({
      algorithm: 'plain',
      algorithmSettings: inPlace.settings,
    })
})
