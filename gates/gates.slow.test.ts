import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { trainClassic } from 'agoge'
import { counts, findRun, withBonus } from 'agoge/classic'
import { afterAll, expect, test } from 'vitest'
import { brokenGate, brokenSeeds, renderBroken } from './broken.ts'
import type { Gate, GateLine } from './gate.ts'
import { gates } from './gates.ts'
import { lowestDifference, notInferior } from './non-inferiority.ts'
import { loadPeer, peerInterval, storePeerSeed } from './peer-result.ts'
import { gateLine, loadResult, renewResult, storeSeed } from './result.ts'
import { runGates } from './run-gates.ts'
import { renderTable } from './table.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-gates-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(gates)('$name names what there is', (gate) => {
  // Throws for an environment, an algorithm, a preset or a setting that does not exist.
  const { definition, settings } = findRun(gate)
  expect(definition.name).toBe(gate.environment)
  expect(settings.preset).toBe(gate.preset)
  expect(gates.filter(({ name }) => name === gate.name)).toHaveLength(1)
})

const gate: Gate = { ...gates[0], steps: 500 }
const options = {
  folder,
  command: 'test',
}

test('seeds are trained once, stored, and taken from there', async () => {
  const done: number[] = []
  const onSeed = (_: Gate, { seed }: { seed: number }): void => void done.push(seed)
  const shown: string[] = []
  const [line] = await runGates([gate], {
    ...options,
    seeds: [1, 2],
    onSeed,
    onGate: (found) => shown.push(found.name),
  })
  expect(done.sort((a, b) => a - b)).toEqual([1, 2])
  expect(shown).toEqual([gate.name])
  expect(line).toMatchObject({ name: gate.name, bar: 475, passed: false, seeds: 2 })
  expect(line.iqm).toBeGreaterThan(5)
  const [again] = await runGates([gate], { ...options, seeds: [2, 1], onSeed })
  expect(done).toHaveLength(2)
  expect(again).toEqual(line)
  const stored = JSON.parse(readFileSync(join(folder, `${gate.name}.json`), 'utf8')) as Record<string, never>
  expect(stored).toMatchObject({ line, command: 'test', settings: { steps: 500, episodes: 100 } })
  expect(loadResult(folder, { ...gate, steps: 501 }).seeds).toEqual([])

  const table = renderTable(folder, [gate, ...gates.slice(1)])
  expect(table).toContain(`0 of ${gates.length} gates passed, 0 failed, ${gates.length} not run in full`)
  expect(table).toContain('not counted (too few seeds for an interval)')
  expect(table).not.toMatch(/NaN|undefined/)
})

test('a seed process receives all settings, including an infinite clipping norm', async () => {
  const found = gates.find(({ name }) => name === 'qr-dqn-cartpole-500k')
  expect(found?.config).toMatchObject({ maxGradientNorm: null })
  const quick: Gate = {
    ...found!,
    steps: 400,
    config: { ...found!.config, learningStarts: 100, trainEvery: 1, learningRate: 0.01, hidden: [32] },
  }
  const [line] = await runGates([quick], { ...options, seeds: [2] })
  expect(line.iqm).toBe(await returnAlone(quick, 2))
  // The setting affects the result, so the line above is a real check.
  expect(line.iqm).not.toBe(
    await returnAlone({ ...quick, config: { ...quick.config, maxGradientNorm: 0 } }, 2),
  )
})

test('the bonus of a gate reaches its seeds', async () => {
  const bonus: Gate = { ...gates.find(({ name }) => name === 'deep-sea-20-with-bonus')!, steps: 2000 }
  const [line] = await runGates([{ ...bonus, countBonus: 1 }], { ...options, seeds: [1] })
  expect(line.iqm).toBe(await returnAlone({ ...bonus, countBonus: 1 }, 1))
})

/** The result of a seed in this process, with the parts of the gate put together by hand. */
async function returnAlone(of: Gate, seed: number): Promise<number> {
  const { definition, algorithm, numEnvs } = findRun(of)
  const { summary, agent } = await trainClassic({
    definition,
    algorithm: of.countBonus === undefined ? algorithm : withBonus(algorithm, counts(), of.countBonus),
    numEnvs,
    steps: of.steps,
    seed,
    evaluate: { every: 0, episodes: 100 },
  })
  await agent.dispose()
  return summary.return.mean
}

test('a gate that cannot run yet trains nothing', async () => {
  const waiting: Gate = { ...gate, name: 'waiting', notYet: 'for a reason' }
  const lines = await runGates([waiting], { ...options, seeds: [1] })
  expect(lines[0]).toMatchObject({ iqm: null, passed: false, seeds: 0 })
})

test('the whole interval has to be on the right side of the bar', () => {
  const seeds = [480, 490, 500, 500, 300].map((value, i) => ({ seed: i, return: value, seconds: 1 }))
  const line = (bar: number, direction: Gate['direction']) => gateLine({ ...gate, bar, direction }, seeds)
  const { low, iqm, high, mean } = line(0, 'at-least')
  expect(low).toBeLessThan(Number(iqm))
  expect(iqm).toBeLessThan(Number(high))
  expect(mean).toBe(454)
  expect(line(Number(low), 'at-least').passed).toBe(true)
  expect(line(Number(low) + 1, 'at-least').passed).toBe(false)
  expect(line(Number(high), 'at-least').passed).toBe(false)
  expect(line(Number(high), 'at-most').passed).toBe(true)
  expect(line(Number(iqm), 'at-most').passed).toBe(false)
})

test('a seed fails below the middle between nothing learnt and the bar, or above a score not to exceed', () => {
  const seeds = [259, 261, 500, 500, 500].map((value, i) => ({ seed: i, return: value, seconds: 1 }))
  const of: Gate = { ...gate, bar: 500, range: [20, 500] }
  expect(gateLine(of, seeds).failures).toBe(1)
  expect(gateLine({ ...of, bar: 300, direction: 'at-most' }, seeds).failures).toBe(3)
})

test('a score is not inferior if all of the one-sided interval is above the margin', () => {
  const around = (value: number): number[] => Array.from({ length: 30 }, (_, i) => value + (i % 3) - 1)
  const margin = (ours: number, range: readonly [number, number]) =>
    notInferior({ range }, around(ours), around(100))
  // The margin is 2% of 100 and of 200.
  expect(margin(100, [0, 100])).toBe(true)
  expect(margin(101.5, [0, 10])).toBe(true)
  expect(margin(98, [0, 100])).toBe(false)
  expect(margin(98, [0, 200])).toBe(true)
  expect(margin(95, [0, 200])).toBe(false)
  // Equal, but too uncertain.
  const wide = Array.from({ length: 10 }, (_, i) => 100 + 40 * (i % 2))
  expect(notInferior({ range: [0, 100] }, wide, wide)).toBe(false)
  expect(lowestDifference(around(100), around(90))).toBeGreaterThan(9)
  expect(lowestDifference(around(100), around(90))).toBeLessThan(10)
})

test('short of the bar a gate passes with its peer: ten seeds at the same settings that are not better', () => {
  const peered: Gate = { ...gate, name: 'peered', peer: ['ppo', 'sb3-zoo'] }
  const store = (of: Gate, seed: number, value: number): void =>
    storePeerSeed(folder, of, {
      result: { seed, return: value, seconds: 2 },
      machine: { cpu: 'a', cores: 2, versions: 'b' },
      command: 'peers',
    })
  for (let seed = 1; seed <= 10; seed++)
    storeSeed(folder, peered, {
      result: { seed, return: 300 + seed, seconds: 1 },
      machine: null,
      command: 'test',
    })
  const passed = (of: Gate): boolean => loadResult(folder, of).line.passed
  expect(passed(peered)).toBe(false)

  // Nine seeds do not count, ten do.
  for (let seed = 1; seed <= 9; seed++) store(peered, seed, 300 + seed)
  expect(loadPeer(folder, peered)).toMatchObject({ interval: null })
  expect(passed(peered)).toBe(false)
  store(peered, 10, 310)
  expect(loadPeer(folder, peered)?.interval).toEqual(peerInterval(loadPeer(folder, peered)?.seeds ?? []))
  expect(passed(peered)).toBe(true)
  const table = renderTable(folder, [peered])
  expect(table).toContain('1 of 1 gates passed')
  expect(table).toContain('yes, with its peer')
  expect(table).toContain('peer of peered (ppo sb3-zoo, 10 seeds of 2.0 s): `peers`')

  // A peer with other settings or another script does not count, nor does the peer of a gate without one.
  expect(loadPeer(folder, { ...peered, steps: 501 })).toBeNull()
  expect(loadPeer(folder, { ...peered, peer: ['ppo', 'cleanrl'] })).toBeNull()
  expect(loadPeer(folder, gate)).toBeNull()
  // Nor for a score not to exceed.
  expect(passed({ ...peered, direction: 'at-most', bar: 100 })).toBe(false)

  // A peer that may be better by more than the margin does not help, though the intervals overlap.
  for (let seed = 1; seed <= 10; seed++) store(peered, seed, 260 + 10 * seed)
  const [{ low, high }, theirs] = [loadResult(folder, peered).line, loadPeer(folder, peered)?.interval]
  expect(Number(low)).toBeLessThan(Number(theirs?.high))
  expect(Number(theirs?.low)).toBeLessThan(Number(high))
  expect(passed(peered)).toBe(false)
  expect(renderTable(folder, [peered])).toContain('| no | 10 |')
})

test('a pass counts with all seeds of the gate, a failure from ten on', () => {
  const long: Gate = { ...gate, name: 'long', seeds: 12 }
  const store = (seed: number, value: number): void =>
    storeSeed(folder, long, { result: { seed, return: value, seconds: 1 }, machine: null, command: 'test' })
  for (let seed = 1; seed <= 10; seed++) store(seed, 500)
  expect(renderTable(folder, [long])).toContain('0 of 1 gates passed, 0 failed, 1 not run in full')
  expect(renderTable(folder, [long])).toContain('| not counted (yes so far) | 10 of 12 |')
  for (let seed = 11; seed <= 12; seed++) store(seed, 500)
  expect(renderTable(folder, [long])).toContain('1 of 1 gates passed')
  const strict: Gate = { ...long, seeds: 13, bar: 501 }
  expect(renderTable(folder, [strict])).toContain('0 of 1 gates passed, 1 failed')
  // The stored line is judged anew.
  renewResult(folder, strict)
  const { line } = JSON.parse(readFileSync(join(folder, 'long.json'), 'utf8')) as { line: GateLine }
  expect(line).toMatchObject({ bar: 501, passed: false, mean: 500, failures: 0 })
})

test('every gate can be broken, and a stopped learner fails', async () => {
  for (const each of gates) {
    const broken = brokenGate(each)
    expect(JSON.stringify(findRun(broken).settings) + broken.countBonus).not.toBe(
      JSON.stringify(findRun(each).settings) + each.countBonus,
    )
    expect(broken).toMatchObject({ bar: each.bar, direction: each.direction })
  }
  const quick: Gate = { ...gates[0], steps: 40_000 }
  const [line] = await runGates([brokenGate(quick)], {
    ...options,
    folder: join(folder, 'broken'),
    seeds: brokenSeeds,
  })
  expect(line).toMatchObject({ passed: false, seeds: 5, failures: 5 })
  const table = renderBroken(join(folder, 'broken'), [quick, ...gates.slice(1)])
  expect(table).toContain(
    `1 of 1 broken gates fail, as they must; ${gates.length - 1} of ${gates.length} have not been run`,
  )
  expect(table).not.toMatch(/NaN|undefined/)
})
