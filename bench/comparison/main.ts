// npm run comparison -- tune [--settings filesystem] [--minutes 60]         the warm start's size and the learning rates, on tuning seeds
// npm run comparison -- run [--settings filesystem] [--seeds 201-210] [--arms rl,fresh] [--minutes 60]   reported pieces, one after another
// npm run comparison -- hours                                               what is missing, and how long it takes by what is stored
// npm run comparison -- quick [--settings filesystem]                       whether every arm runs: tiny budgets, stored in a temporary folder
// npm run comparison                                                        writes docs/results/comparison.md and .json
//
// A piece that is stored is not run again, and one that was stopped is resumed. AGOGE_THREADS=1 leaves a core to others; two processes
// with different --seeds then use both.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { arms, type ArmName, armsOf, type Mixture } from './arms.ts'
import { runArm, warmStart } from './pieces.ts'
import type { PieceContext } from './pieces.ts'
import { writeReport } from './report.ts'
import { type Setting, type SettingName, settings } from './settings.ts'
import { hasPiece, nameOf, readPieces, storeIn } from './store.ts'
import { chooseRate, chooseWarmStart } from './tuning.ts'
import { hoursText, missingPieces } from './hours.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    settings: { type: 'string', default: 'filesystem,chains,memory' },
    seeds: { type: 'string' },
    arms: { type: 'string' },
    mixtures: { type: 'string' },
    minutes: { type: 'string' },
  },
})
const chosen = values.settings.split(',').map((name) => settings[name as SettingName])
const wantedArms = values.arms?.split(',') as ArmName[] | undefined
const wantedMixtures = values.mixtures?.split(',') as Mixture[] | undefined

const stop = new AbortController()
const stopped = new Error('stopped; the same command goes on')
process.once('SIGINT', () => stop.abort(stopped))
process.once('SIGTERM', () => stop.abort(stopped))
if (values.minutes !== undefined)
  setTimeout(() => stop.abort(stopped), 60_000 * Number(values.minutes)).unref()

const say = (text: string): void => {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}

/** Opens the tasks of a seed, once for the pieces of it that follow each other. */
let current: PieceContext | undefined
let runs = resolve('.agoge', 'comparison')
async function contextOf(setting: Setting, seed: number): Promise<PieceContext> {
  if (current?.setting === setting && current.seed === seed) return current
  await current?.opened.environment.close()
  current = undefined
  const opened = await setting.open(seed, setting.counts)
  current = { setting, seed, opened, runs, signal: stop.signal }
  return current
}

async function tune(setting: Setting): Promise<void> {
  for (;;) {
    const next = chooseWarmStart(setting, readPieces())
    if ('chosen' in next) break
    say(`${setting.name} ${next.seed}: warm start with ${next.shown} demonstrations per kind`)
    await warmStart(await contextOf(setting, next.seed), next.shown)
  }
  const shown = chosenWarmStart(setting)
  const order = armsOf(setting.name).filter((arm) => wantedArms?.includes(arm) ?? true)
  for (const arm of order)
    for (;;) {
      const next = chooseRate(setting, arm, readPieces())
      if ('chosen' in next) break
      say(`${setting.name} ${next.seed}: ${arm} at ${next.rate}`)
      await runArm(await contextOf(setting, next.seed), {
        arm,
        mixture: 'common',
        shown,
        learningRate: next.rate,
        firstRate: firstRateOf(setting, arm),
      })
    }
}

function chosenWarmStart(setting: Setting): number {
  const next = chooseWarmStart(setting, readPieces())
  if ('chosen' in next) return next.chosen
  throw new Error(`${setting.name}: npm run comparison -- tune comes first`)
}

function rateOf(setting: Setting, arm: ArmName): number {
  const next = chooseRate(setting, arm, readPieces())
  if ('chosen' in next) return next.chosen
  throw new Error(`${setting.name}, ${arm}: npm run comparison -- tune comes first`)
}

function firstRateOf(setting: Setting, arm: ArmName): number | undefined {
  const { firstHalf } = arms[arm]
  return firstHalf === undefined ? undefined : rateOf(setting, firstHalf)
}

async function run(setting: Setting): Promise<void> {
  const shown = chosenWarmStart(setting)
  const [first = -Infinity, last = values.seeds === undefined ? Infinity : first] =
    values.seeds?.split('-').map(Number) ?? []
  for (const mixture of setting.mixtures.filter((name) => wantedMixtures?.includes(name) ?? true))
    for (const seed of setting.seeds.filter((seed) => seed >= first && seed <= last))
      for (const arm of armsOf(setting.name)) {
        if (wantedArms?.includes(arm) === false) continue
        const piece = { piece: 'arm', setting: setting.name, seed, arm, mixture } as const
        if (hasPiece(piece)) continue
        say(nameOf(piece))
        await runArm(await contextOf(setting, seed), {
          arm,
          mixture,
          shown,
          learningRate: rateOf(setting, arm),
          firstRate: firstRateOf(setting, arm),
        })
        say(hoursText(missingPieces(chosen, readPieces())))
      }
}

/** Runs every arm for a few steps, from a warm start that has learned next to nothing. */
async function quick(setting: Setting): Promise<void> {
  runs = mkdtempSync(join(tmpdir(), 'agoge-comparison-'))
  storeIn(join(runs, 'pieces'))
  const counts = { validation: 1, known: 1, paraphrased: 1, heldOutKinds: 1 }
  const small: Setting = { ...setting, counts, budget: 60_000, validations: 4 }
  for (const seed of [setting.tuningSeeds[0], setting.seeds[0]])
    for (const arm of armsOf(setting.name)) {
      if (wantedArms?.includes(arm) === false) continue
      say(`${setting.name} ${seed}: ${arm}`)
      await runArm(await contextOf(small, seed), {
        arm,
        mixture: seed === setting.seeds[0] ? 'own' : 'common',
        shown: 2,
        learningRate: 3e-4,
        firstRate: 1e-3,
      })
    }
  process.stdout.write(`${JSON.stringify(readPieces(), null, 1)}\n`)
}

try {
  const [command] = positionals
  if (command === 'tune') for (const setting of chosen) await tune(setting)
  else if (command === 'run') for (const setting of chosen) await run(setting)
  else if (command === 'quick') for (const setting of chosen) await quick(setting)
  if (command !== 'hours' && command !== 'quick') writeReport(readPieces())
  say(hoursText(missingPieces(Object.values(settings), readPieces())))
} catch (error) {
  if (error !== stopped) throw error
  say(stopped.message)
  say(hoursText(missingPieces(chosen, readPieces())))
} finally {
  await current?.opened.environment.close()
}
