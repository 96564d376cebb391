import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createAdventure } from '../llm/environment/adventure/adventure.ts'
import { playText } from './play-text.ts'
import { agoge } from './testing/agoge.ts'

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
