import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, preview } from 'vite'
import type { PreviewServer } from 'vite'
import { afterAll, afterEach, expect, test } from 'vitest'
import { findChromium, openPage } from './testing/chromium.ts'
import type { Page } from './testing/chromium.ts'

const chromium = findChromium()
const folder = mkdtempSync(join(tmpdir(), 'agoge-browser-'))
let server: PreviewServer | undefined
let address: Promise<string> | undefined
let page: Page | undefined

afterEach(async () => {
  await page?.close()
  page = undefined
})

afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Bundles the page for browsers and serves the files. */
async function serve(): Promise<string> {
  const options = {
    configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)),
    logLevel: 'error',
  } as const
  await build({ ...options, build: { outDir: folder, emptyOutDir: true } })
  server = await preview({ ...options, build: { outDir: folder }, preview: { host: '127.0.0.1', port: 0 } })
  const address = server.httpServer.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}/`
}

const text = (id: string): string => `document.getElementById('${id}').textContent`
// None before the page is there and its script has run.
const state = 'document.body?.dataset.state'
/** Settles when the page is in one of the states. */
const reached = (...states: string[]): string =>
  `new Promise((resolve) => {
    const look = () => (${JSON.stringify(states)}.includes(${state}) ? resolve(${state}) : setTimeout(look, 50))
    look()
  })`
const wait = (milliseconds: number): string =>
  `new Promise((resolve) => setTimeout(resolve, ${milliseconds}))`

const click = `document.getElementById('start').click()`

/** Clicks on pause and, once training has stopped, looks whether anything but the pole still moves. */
async function pauseAndResume({ evaluate }: Page): Promise<void> {
  const look = `[${text('steps')}, document.querySelector('#pole svg').innerHTML]`
  await evaluate(click)
  expect(await evaluate(reached('paused', 'failed'))).toBe('paused')
  const [steps, pole] = await evaluate<string[]>(`${wait(200)}.then(() => ${look})`)
  await evaluate(`new Promise((resolve) => {
    const watch = () => (${look}[1] === ${JSON.stringify(pole)} ? setTimeout(watch, 50) : resolve())
    watch()
  })`)
  expect(await evaluate(text('steps'))).toBe(steps)
  await evaluate(click)
}

test.for(['64', '256'])('a page trains CartPole to 475, two hidden layers of %s', async (width, { skip }) => {
  if (chromium === undefined) return skip('no Chromium found in PATH; AGOGE_CHROMIUM says where one is')
  address ??= serve()
  page = await openPage(chromium, await address)
  const { evaluate, screenshot, troubles } = page
  await evaluate(reached('ready'))
  await evaluate(`document.getElementById('width').value = '${width}'; ${click}`)
  expect(await evaluate(reached('training', 'failed'))).toBe('training')
  await pauseAndResume(page)
  expect(await evaluate(reached('solved', 'spent', 'failed'))).toBe('solved')

  const [greedy, over, engine, ...counted] = await evaluate<string[]>(
    `${wait(200)}.then(() => [${['greedy', 'greedy-over', 'engine', 'steps', 'seconds', 'speed'].map(text).join()}])`,
  )
  expect(Number(greedy)).toBeGreaterThanOrEqual(475)
  expect(over).toBe('over 100 episodes')
  if (width === '256') expect(engine).toBe('ONNX Runtime')
  const [steps, seconds, speed] = counted.map((formatNumber) =>
    Number.parseFloat(formatNumber.replaceAll(',', '')),
  )
  expect(steps).toBeLessThanOrEqual(100_000)
  expect(Math.abs((speed * seconds) / steps - 1)).toBeLessThan(0.1)
  // The curve has a point for most updates, each of 256 steps, and a mark for the evaluation that counts.
  const [points, marks] = await evaluate<number[]>(
    `[document.querySelector('path.raw').getAttribute('d').split(/[ML]/).length - 1, document.querySelectorAll('.mark.final').length]`,
  )
  expect(points).toBeGreaterThan(steps / 256 / 2)
  expect(marks).toBeGreaterThan(0)
  expect(troubles).toEqual([])
  // How docs/images/browser.png was made.
  const picture = process.env['AGOGE_SCREENSHOT']
  if (picture !== undefined) writeFileSync(picture, await screenshot())
})
