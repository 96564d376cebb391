import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { driver, onDevice } from './testing/device-process.ts'

const script = new URL('testing/on-device.ts', import.meta.url)

/** WebGPU promises sines and cosines to 2^-11 only. */
const tolerance = (name: string): number => (['sin', 'cos'].includes(name) ? 5e-4 : 2e-5)

test.skipIf(!existsSync(driver))('every operator is right on WebGPU', async () => {
  const { code, out, err } = await onDevice('webgpu', script)
  expect(code, err).toBe(0)
  const deviations = Object.entries(JSON.parse(out) as Record<string, number>)
  expect(deviations.length).toBeGreaterThan(70)
  expect(deviations.filter(([name, deviation]) => !(deviation < tolerance(name)))).toEqual([])
})

test('an unknown device is named in the error', async () => {
  const { code, err } = await onDevice('tpu', script)
  expect(code).toBe(1)
  expect(err).toMatch(/AGOGE_DEVICE names no device[\s\S]*unknown-device/)
})

test('a missing device is named in the error, with what it needs', async () => {
  const { code, err } = await onDevice('cuda', script)
  expect(code).toBe(1)
  expect(err).toMatch(/cannot run on cuda here[\s\S]*no-device/)
})
