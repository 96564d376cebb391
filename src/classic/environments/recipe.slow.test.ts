import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
/** Beside the folders of environments, so that relative imports are those of the recipe. */
const folder = join(root, '.recipes', 'environments', 'control')
const library = join(root, 'src', 'classic', 'environment', 'index.ts')

/** The files of this section of CONTRIBUTING.md. */
function filesOfRecipe(): [name: string, text: string][] {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const [, section] = page.split('## Add a classic environment')
  return [...section.split('\n## ')[0].matchAll(/```ts recipe=(\S+)\n([\s\S]*?)```/g)].map(
    ([, name, text]) => [name, text],
  )
}

const node = (...given: string[]) =>
  run(process.execPath, ['--import', import.meta.resolve('tsx'), '--conditions', 'agoge-source', ...given], {
    cwd: root,
  })

test('the recipe "Add a classic environment" works as it stands: its test passes, and the file is trained on', async () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  try {
    const files = filesOfRecipe()
    expect(files.map(([name]) => name)).toEqual(['ball-on-beam.ts', 'ball-on-beam.test.ts'])
    for (const [name, text] of files)
      writeFileSync(join(folder, name), text.replaceAll("'../../environment/index.ts'", `'${library}'`))

    writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {}')
    const vitest = join(dirname(fileURLToPath(import.meta.resolve('vitest/package.json'))), 'vitest.mjs')
    const tested = await run(process.execPath, [vitest, 'run', '--root', folder, '--no-color'], {
      cwd: folder,
    })
    expect(tested.stdout).toMatch(/Tests +2 passed/)

    const settings = '--algorithm ppo --preset cleanrl --num-envs 4 --steps 1024'.split(' ')
    const file = join(folder, 'ball-on-beam.ts')
    const trained = await node('src/cli/main.ts', 'train', file, ...settings, '--out', join(folder, 'run'))
    expect(trained.stdout).toMatch(
      /^ball-on-beam, ppo \(cleanrl\): mean return [\d.]+ .* after 1024 steps\.$/m,
    )
  } finally {
    rmSync(join(root, '.recipes'), { recursive: true, force: true })
  }
})
