import { expect, test } from 'vitest'
import { box } from '../../environment/index.ts'
import { countParameters, createParameters } from '../../nn/index.ts'
import { createRandom } from '../../random/index.ts'
import { startPartner } from '../../tensor/index.ts'
import { sacPresets } from './sac.ts'
import { sacBoard } from './sac-board.ts'
import { sacActor, sacCritics } from './sac-learner.ts'
import { asked, createSacTeam } from './sac-team.ts'
import type { SacTeam } from './sac-team.ts'

const unlearned = { first: new Float32Array(0), second: new Float32Array(0), steps: 0 }

/** The runtime's for a width above 128, else kernels; an odd number of rows. */
const sizesOf = (width: number, actorEvery: number) => {
  const config = { ...sacPresets.cleanrl, hidden: [width, width], batchSize: 65, actorEvery }
  const networks = { config, observation: box([3], -1, 1), width: 3, action: 2 }
  const [actor, critics] = [sacActor(networks), sacCritics(networks)]
  return { sizes: { ...networks, actor: countParameters(actor.specs) }, actor, critics }
}

async function begun(width: number, actorEvery: number, threads: number): Promise<SacTeam> {
  const { sizes, actor, critics } = sizesOf(width, actorEvery)
  const team = await createSacTeam(sizes, threads)
  const random = createRandom('team', 1)
  const { data } = createParameters(critics.specs, random.split('critics'))
  team.restore({
    actor: createParameters(actor.specs, random.split('actor')).data,
    critics: data,
    targets: data,
    actorAdam: unlearned,
    criticAdam: unlearned,
  })
  return team
}

/** A step from a batch of its own. */
async function step({ board, step }: SacTeam, which: number, times: number): Promise<void> {
  const random = createRandom('batch', which)
  for (const name of ['observations', 'nextObservations', 'noise', 'rewards'] as const)
    board[name].forEach((_, i) => (board[name][i] = random.normal()))
  board.actions.forEach((_, i) => (board.actions[i] = Math.tanh(random.normal())))
  board.discounts.fill(0.9)
  board.temperatures.fill(0.2)
  await step(times, (time) => (board.temperatures[time + 1] = 0.3))
}

const largest = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0)

test.each([16, 160])('two threads learn what one does, a width of %d', async (width) => {
  const [one, two] = [await begun(width, 2, 1), await begun(width, 2, 2)]
  const before = one.state()
  for (const [which, times] of [0, 2, 1, 0].entries()) {
    await step(one, which, times)
    await step(two, which, times)
    const [a, b] = [one.state(), two.state()]
    expect(largest(a.critics, b.critics)).toBeLessThan(2e-4)
    expect(largest(a.targets, b.targets)).toBeLessThan(2e-4)
    expect(largest(a.actor, b.actor)).toBeLessThan(2e-4)
    expect(b.criticAdam.steps).toBe(which + 1)
    for (const name of ['losses', 'estimates', 'logprobs', 'values'] as const)
      expect(largest(one.board[name], two.board[name])).toBeLessThan(1e-3)
  }
  // Both critics have moved, and are two.
  const { critics } = two.state()
  const [first, second] = [critics.subarray(0, critics.length / 2), critics.subarray(critics.length / 2)]
  expect(largest(first, before.critics)).toBeGreaterThan(1e-3)
  expect(largest(second, before.critics.subarray(critics.length / 2))).toBeGreaterThan(1e-3)
  expect(largest(first, second)).toBeGreaterThan(1e-3)
  await one.dispose()
  await two.dispose()
})

test('what two threads have learnt goes on exactly, on other threads', async () => {
  const first = await begun(16, 1, 2)
  await step(first, 0, 1)
  const saved = structuredClone(first.state())
  await step(first, 1, 1)
  const second = await begun(16, 1, 2)
  second.restore(saved)
  await step(second, 1, 1)
  expect(second.state()).toEqual(first.state())
  await first.dispose()
  await second.dispose()
})

test('a second thread that fails is told of, not waited for', async () => {
  const { sizes } = sizesOf(16, 1)
  const board = sacBoard(sizes, true)
  const partner = await startPartner(new URL('sac-team.ts', import.meta.url).href, 'sac-thread', {
    sizes,
    board,
  })
  // Nothing was sent.
  partner!.ask(asked.load)
  expect(() => partner!.meet()).toThrow(expect.objectContaining({ code: 'thread-stopped' }))
  await partner!.dispose()
})
