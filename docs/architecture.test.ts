import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const exists = (path: string): boolean => existsSync(fileURLToPath(new URL(`../${path}`, import.meta.url)))
const page = read('ARCHITECTURE.md')

/** The files of a walk, in order. A bare name stands beside the file before it. */
function filesOf(walk: string): string[] {
  const [, root, text] = new RegExp(`### The walk of ${walk},.*\\(in \`(.+)\`\\)\\n([\\s\\S]*?)\\n##`).exec(
    page,
  )!
  let folder = root
  return [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file]) => {
    const path = file.includes('/') ? root + file : folder + file
    // What stands in another folder is named by its path, and the names after it are beside the first file of the step.
    if (file.includes('/') && !/\/(advantages|losses)\//.test(file))
      folder = path.slice(0, path.lastIndexOf('/') + 1)
    return path
  })
}

test.each([
  ['a reward', 15],
  ['an observation', 10],
])('the walk of %s lists files that exist, and none twice', (walk, least) => {
  const files = filesOf(walk)
  expect(files.length).toBeGreaterThanOrEqual(least)
  for (const file of files) expect(exists(file), file).toBe(true)
  expect(new Set(files).size).toBe(files.length)
})

test('the page is short', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(110)
})
