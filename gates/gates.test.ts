import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRun } from 'agoge/unstable/training/arrays'
import { afterAll, expect, test } from 'vitest'
import type { Gate } from './gate.ts'
import { gates } from './gates.ts'
import { gateLine, loadResult } from './result.ts'
import { runGates } from './run-gates.ts'
import { renderTable } from './table.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-gates-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(gates)('$name names what there is', (gate) => {
  // Throws for a world, an algorithm, a preset or a setting that does not exist.
  const { world, settings } = findRun(gate)
  expect(world.name).toBe(gate.world)
  expect(settings.preset).toBe(gate.preset)
  expect(gates.filter(({ name }) => name === gate.name)).toHaveLength(1)
})

const gate: Gate = { ...gates[0], steps: 500 }
const options = {
  folder,
  command: 'test',
  execArgv: ['--import', import.meta.resolve('tsx'), '--conditions', 'agoge-source'],
}

test('seeds are trained once, stored, and taken from there', async () => {
  const done: number[] = []
  const onSeed = (_: Gate, { seed }: { seed: number }): void => void done.push(seed)
  const told: string[] = []
  const [line] = await runGates([gate], {
    ...options,
    seeds: [1, 2],
    onSeed,
    onGate: (found) => told.push(found.name),
  })
  expect(done.sort((a, b) => a - b)).toEqual([1, 2])
  expect(told).toEqual([gate.name])
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
  expect(table).toContain('not counted (no so far)')
  expect(table).not.toMatch(/NaN|undefined/)
}, 120_000)

test('a gate that is not possible yet runs nothing', async () => {
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
