import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { driver, onDevice } from '../../engine/tensor/testing/device-process.ts'

interface DeviceResult {
  losses: number[]
  norms: number[]
  tokens: number[][]
  logprobs: number[]
}

test.skipIf(!existsSync(driver))('a model trains and writes on WebGPU as on the processor', async () => {
  const outcomes = await Promise.all(
    ['cpu', 'webgpu'].map(async (device) => {
      const { code, out, err } = await onDevice(device, new URL('../testing/on-device.ts', import.meta.url))
      expect(code, err).toBe(0)
      return JSON.parse(out) as DeviceResult
    }),
  )
  const [cpu, gpu] = outcomes
  expect(gpu.tokens).toEqual(cpu.tokens)
  for (const part of ['losses', 'norms', 'logprobs'] as const)
    gpu[part].forEach((value, i) =>
      expect(Math.abs(value - cpu[part][i])).toBeLessThan(1e-4 * (1 + Math.abs(cpu[part][i]))),
    )
})
