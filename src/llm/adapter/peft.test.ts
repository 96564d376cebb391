import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { readFactors } from './peft.ts'

const golden = (path: string): string => fileURLToPath(new URL(`../golden/${path}`, import.meta.url))

test('an adapter_config.json of a stranger is refused before there is room for what it claims', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-peft-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(golden('adapters/some'), folder, { recursive: true })
  const file = join(folder, 'adapter_config.json')
  const config = JSON.parse(readFileSync(file, 'utf8')) as { r: number }
  const { parameters } = await readCheckpoint(golden('checkpoints/qwen3'))
  expect((await readFactors(folder, parameters)).settings.rank).toBe(config.r)
  for (const r of [config.r + 1, 2 ** 31, 2 ** 53 - 1]) {
    writeFileSync(file, JSON.stringify({ ...config, r }))
    await expect(readFactors(folder, parameters)).rejects.toMatchObject({
      code: 'bad-checkpoint',
      expected: `${r} rows`,
    })
  }
  const deep = `{"peft_type":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  writeFileSync(file, deep)
  await expect(readFactors(folder, parameters)).rejects.toMatchObject({ code: 'bad-checkpoint' })
})
