import { expect, test } from 'vitest'
import { InfrastructureError } from '../../../tool/tool.ts'
import type { AdmittedTool } from '../safety.ts'
import { createStatePool } from '../server/state-pool.ts'
import { createToolSystem } from '../tool-system.ts'
import { probeTools } from './tool-probing.ts'

/**
 * A system of processes that `ender` ends after its answer, so that the write of a later call fails: of the call after so many.
 */
function systemOf(kind: AdmittedTool['kind'], answered: number) {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  const tools = ['ender', 'measure'].map((name): AdmittedTool => ({
    spec: { name, description: `${name} a text`, inputSchema },
    kind,
    why: '--sandbox',
  }))
  const pool = createStatePool({
    size: 1,
    writes: () => false,
    open: async () => {
      let left = Infinity
      return {
        toolbox: {
          specs: tools.map(({ spec }) => spec),
          async call(name, { text }) {
            if (left-- <= 0) throw new InfrastructureError('write EPIPE')
            if (name === 'ender') left = Math.min(left, answered)
            return {
              text: JSON.stringify({ characters: 1000 + 7 * String(text).length, of: name }),
              isError: false,
            }
          },
        },
        reset: async () => {},
        close: async () => {},
      }
    },
  })
  return createToolSystem({ name: 'ending', tools, pool, observe: [] })
}

test('a tool that reads is not left out because an earlier one ended the server before the call was written', async () => {
  const system = systemOf('read', 0)
  const { leftOut, kinds } = await probeTools(system, { seed: 1 })
  expect(leftOut).toEqual([{ name: 'ender', reason: 'the server failed in 2 calls of it: write EPIPE' }])
  expect(kinds.map(({ name }) => name)).toEqual(['measure'])
  expect(system.offered.map(({ spec }) => spec.name)).toEqual(['measure'])
})

test('nor is one of unknown kind; one that ends the server only after many calls is not left out either', async () => {
  const alone = await probeTools(systemOf('unknown', 0), { seed: 1 })
  expect(alone.leftOut).toEqual([{ name: 'ender', reason: 'the server failed: write EPIPE' }])
  // Each tool is called ten times when it is tried.
  const { leftOut, readers } = await probeTools(systemOf('unknown', 9), { seed: 1 })
  expect(leftOut).toEqual([])
  expect(readers).toEqual(['ender', 'measure'])
})
