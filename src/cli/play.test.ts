import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { runCli } from './run-cli.ts'
import { agoge } from './testing/agoge.ts'
import { createAdventure } from '../llm/environment/adventure/adventure.ts'
import { playText } from './play.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-play-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const count = (text: string, part: string): number => text.split(part).length - 1

test('frames become one animated SVG', async () => {
  const file = join(folder, 'cartpole.svg')
  const { out } = await agoge('play', 'cartpole', '--render', file, '--episodes', '2', '--fps', '10')
  const steps = [...out.matchAll(/in (\d+) steps/g)].map(([, steps]) => Number(steps))
  const frames = steps[0] + steps[1] + 2
  expect(out).toContain(`${file}: ${frames} frames`)
  expect(out).not.toMatch(/[\u2800-\u28ff]/)
  const svg = readFileSync(file, 'utf8')
  expect(count(svg, '<animate ')).toBe(frames)
  expect(svg).toContain(`dur="${Number((frames / 10).toPrecision(6))}s"`)
})

test('an animated PNG, of environments that are drawn in characters too', async () => {
  const file = join(folder, 'blackjack.png')
  const { code } = await agoge('play', 'frozen-lake', '--render', file)
  expect(code).toBe(0)
  const bytes = readFileSync(file).toString('latin1')
  expect(bytes.slice(1, 4)).toBe('PNG')
  expect(bytes).toContain('acTL')
})

test('a folder gets an SVG image a frame, and no others among its own', async () => {
  const path = join(folder, 'frames')
  await agoge('play', 'cartpole', '--render', path, '--every', '4')
  const names = readdirSync(path)
  expect(names.slice(0, 2)).toEqual(['frame-00000.svg', 'frame-00001.svg'])
  expect(readFileSync(join(path, 'frame-00000.svg'), 'utf8')).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
  const { code, err } = await agoge('play', 'cartpole', '--render', path)
  expect(code).toBe(1)
  expect(err).toMatch(/already holds frames/)
})

test('a format that is none is refused before anything is played', async () => {
  const { code, out, err } = await agoge('play', 'cartpole', '--render', join(folder, 'x.gif'))
  expect(code).toBe(1)
  expect(out).toBe('')
  expect(err).toMatch(/cannot be written as \.gif[\s\S]*animated PNG/)
})

test('interrupted, also where nothing waits, what was played is kept', async () => {
  const file = join(folder, 'stopped.svg')
  const controller = new AbortController()
  let err = ''
  // Cliff walking has no limit of steps, and a random walk needs thousands.
  const playing = runCli(['play', 'cliff-walking', '--episodes', '100000', '--render', file], {
    out: () => {},
    err: (text) => {
      err += text
    },
    progress: { write: () => {} },
    signal: controller.signal,
    debug: false,
  })
  setTimeout(() => controller.abort(new Error('Ctrl-C')), 30)
  expect(await playing).toBe(130)
  expect(err).toContain('what was finished is kept')
  expect(existsSync(file)).toBe(true)
})

test('on a terminal each frame covers the last', async () => {
  const writes: string[] = []
  const code = await runCli(['play', 'frozen-lake', '--fps', '1000'], {
    out: (text) => writes.push(text),
    err: () => {},
    progress: { write: (text: string) => writes.push(text), isTTY: true, columns: 80 },
    signal: new AbortController().signal,
    debug: false,
  })
  expect(code).toBe(0)
  const erased = writes.filter((text) => text.startsWith('\u001B['))
  const frames = writes.filter((text) => text.includes('episode 1  step'))
  expect(frames.length).toBeGreaterThan(2)
  expect(erased).toHaveLength(frames.length)
  // A frame of four lines and its status.
  expect(erased.every((text) => text === '\u001B[5A\u001B[J')).toBe(true)
})

test('a frame fits into a narrow terminal', async () => {
  const writes: string[] = []
  await runCli(['play', 'cartpole', '--fps', '1000'], {
    out: () => {},
    err: () => {},
    progress: { write: (text: string) => writes.push(text), isTTY: true, columns: 40 },
    signal: new AbortController().signal,
    debug: false,
  })
  const lines = writes.flatMap((text) => text.split('\n')).filter((line) => !line.startsWith('\u001B'))
  expect(Math.max(...lines.map((line) => line.length))).toBe(39)
})

async function typed(lines: readonly string[], options: { episodes?: number; context?: string[] } = {}) {
  const waiting = [...lines]
  const out: string[] = []
  const command = { environment: 'adventure', seed: 1, episodes: 1, ...options }
  await playText(command, () => Promise.resolve(waiting.shift() ?? null), {
    out: (text) => out.push(text),
    err: () => {},
  })
  return out
}

test('what is typed is played to the end of the quest', async () => {
  const game = createAdventure()
  const context = { scene: 7, rooms: 4 }
  const { observation } = game.reset({ context })
  const plan = game.plan()
  const out = await typed(['/help', '', 'what is this?', ...plan], { context: ['scene=7,rooms=4'] })
  expect(out[0]).toBe(observation)
  expect(out[1].split('\n')).toEqual(game.admissible())
  // Signs that the game does not know cost no step.
  expect(out[2]).toContain('?')
  expect(out.at(-1)).toBe(`episode 1: return 1.00 in ${plan.length} steps, terminated`)
})

test('episodes follow one another, another map each, until the player leaves', async () => {
  const out = await typed([...Array.from({ length: 50 }, () => 'look'), 'look', '/quit', 'look'], {
    episodes: 3,
  })
  expect(out[51]).toBe('episode 1: return 0.000 in 50 steps, truncated')
  expect(out[52]).not.toBe(out[0])
  expect(out).toHaveLength(54)
})

test('in the terminal: lines from standard input', () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      '--import',
      'tsx',
      '--conditions',
      'agoge-source',
      main,
      'play',
      'adventure',
      '--context',
      'scene=7,rooms=4',
    ],
    { input: 'take rusty key\n/quit\n', encoding: 'utf8' },
  )
  expect(stdout).toContain('You are in the greenhouse.')
  expect(stdout).toContain('You take the rusty key.')
  expect(status).toBe(0)
})

test('it is listed, and what means nothing for it is refused', async () => {
  expect((await agoge('envs')).out).toMatch(/adventure +a text adventure/)
  expect((await agoge('envs', 'adventure')).out).toMatch(/rooms +5 +3 to 6 +2 to 10/)
  expect(JSON.parse((await agoge('envs', 'adventure', '--json')).out)).toMatchObject({
    name: 'adventure',
    observation: { type: 'text' },
  })
  const refused = await agoge('play', 'adventure', '--render', 'x.svg')
  expect(refused.err).toMatch(/--render means nothing for adventure/)
  expect((await agoge('play', 'adventure', '--context', 'dragons=1')).err).toContain('"dragons"')
})
