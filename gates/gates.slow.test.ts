import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { trainClassic } from 'agoge'
import { counts, findRun, withBonus } from 'agoge/classic'
import { afterAll, expect, test } from 'vitest'
import type { Gate } from './gate.ts'
import { gates } from './gates.ts'
import { loadPeer, peerInterval, storePeerSeed } from './peer-result.ts'
import { gateLine, loadResult, overlap, storeSeed } from './result.ts'
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

test('the interval has to reach the bar; of a bar that is a most, all of it has to', () => {
  const seeds = [480, 490, 500, 500, 300].map((value, i) => ({ seed: i, return: value, seconds: 1 }))
  const line = (bar: number, direction: Gate['direction']) => gateLine({ ...gate, bar, direction }, seeds)
  const { low, iqm, high } = line(0, 'at-least')
  expect(low).toBeLessThan(Number(iqm))
  expect(iqm).toBeLessThan(Number(high))
  expect(line(Number(high), 'at-least').passed).toBe(true)
  expect(line(Number(high) + 1, 'at-least').passed).toBe(false)
  expect(line(Number(high), 'at-most').passed).toBe(true)
  expect(line(Number(iqm), 'at-most').passed).toBe(false)
})

test('intervals overlap where they have a point in common', () => {
  const peer = { low: 2, high: 4 }
  for (const [low, high, want] of [
    [0, 1.9, false],
    [0, 2, true],
    [2.5, 3, true],
    [0, 9, true],
    [4, 5, true],
    [4.1, 5, false],
  ] as const) {
    expect(overlap({ low, high }, peer)).toBe(want)
    expect(overlap(peer, { low, high })).toBe(want)
  }
})

test('short of the bar a gate passes with its peer: ten seeds at the same settings that overlap', () => {
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
  for (let seed = 1; seed <= 9; seed++) store(peered, seed, 295 + 2 * seed)
  expect(loadPeer(folder, peered)).toMatchObject({ interval: null })
  expect(passed(peered)).toBe(false)
  store(peered, 10, 315)
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

  // A much better peer does not help.
  for (let seed = 1; seed <= 10; seed++) store(peered, seed, 480 + seed)
  expect(passed(peered)).toBe(false)
  expect(renderTable(folder, [peered])).toContain('| no | 10 |')
})
