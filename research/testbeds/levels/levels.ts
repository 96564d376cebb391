import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { each } from '../each.ts'

/** Moves of an agent. */
export const actions = 4
/** Discount of the return. */
export const gamma = 0.95
/** Steps of the longest episode. */
export const longest = 20

/** A small grid. Tables have an entry a cell, `next` one for each of the four moves of a cell. */
export interface Level {
  cells: number
  start: number
  next: Uint8Array
  /** Mean reward on entering a cell. */
  rewards: Float64Array
  /** 1 where an episode ends. */
  terminated: Uint8Array
  /** Chance that a random move is made in place of the chosen one. */
  slip: number
  /** A reward is off by at most this, uniformly. */
  noise: number
  /** Return from the start of the best policy, and of the uniform one. */
  best: number
  uniform: number
}

/** What a kind of level looks like. */
export interface Features {
  side: number
  /** Share of cells that are walls. */
  walls: number
  /** Cells that end an episode with -1. */
  traps: number
  /** Reward of a cell that ends an episode as the goal does, which has 1; 0: there is none. */
  lure: number
  slip: number
  noise: number
}

/** Features of a random level. */
export const randomFeatures = (random: Random): Features => ({
  side: 3 + random.int(3),
  walls: 0.35 * random.next(),
  traps: random.int(4),
  lure: random.next() < 0.5 ? 0.2 + 0.3 * random.next() : 0,
  slip: 0.3 * random.next(),
  noise: 0.5 * random.next(),
})

/** A random level with these features whose best policy is better than the uniform one by at least 0.2. */
export function levelOf(features: Features, random: Random): Level {
  for (;;) {
    const level = attempt(features, random)
    if (level.best - level.uniform >= 0.2) return level
  }
}

function attempt({ side, walls, traps, lure, slip, noise }: Features, random: Random): Level {
  const cells = side * side
  const order = random.shuffle(each(cells))
  const blocked = new Set(order.slice(3 + traps, 3 + traps + Math.round(walls * (cells - 3 - traps))))
  const [rewards, terminated] = [new Float64Array(cells), new Uint8Array(cells)]
  const [start, goal, other, ...rest] = order
  const ends: [number, number][] = [
    [goal, 1],
    ...rest.slice(0, traps).map((cell): [number, number] => [cell, -1]),
  ]
  if (lure > 0) ends.push([other, lure])
  for (const [cell, reward] of ends) {
    rewards[cell] = reward
    terminated[cell] = 1
  }
  const next = Uint8Array.from(
    each(cells).flatMap((cell) =>
      [
        [1, 0],
        [0, 1],
        [-1, 0],
        [0, -1],
      ].map(([dx, dy]) => {
        const [x, y] = [(cell % side) + dx, Math.floor(cell / side) + dy]
        const to = x + side * y
        return x < 0 || y < 0 || x >= side || y >= side || blocked.has(to) ? cell : to
      }),
    ),
  )
  const level = { cells, start, next, rewards, terminated, slip, noise, best: 0, uniform: 0 }
  level.best = swept(level, null)
  level.uniform = swept(level, new Float64Array(cells * actions).fill(1 / actions))
  return level
}

/** The return of an episode of at most 20 steps, exactly, of a policy (the chance of each action, [cells * 4]). */
export const returnOf = (level: Level, policy: Float64Array): number => swept(level, policy)

/** Sweeps back from the last step, of a policy or of the best one. */
function swept(
  { cells, start, next, rewards, terminated, slip }: Level,
  policy: Float64Array | null,
): number {
  const worth = new Float64Array(rewards)
  const values = new Float64Array(cells)
  // The chance of a move is that of the action, or of a slip.
  const chances = policy?.map((chance) => (1 - slip) * chance + slip / actions)
  for (let step = 0; step < longest; step++) {
    for (let cell = 0, k = 0; cell < cells; cell++, k += actions) {
      const right = worth[next[k]]
      const down = worth[next[k + 1]]
      const left = worth[next[k + 2]]
      const up = worth[next[k + 3]]
      values[cell] =
        chances === undefined
          ? (1 - slip) * Math.max(right, down, left, up) + (slip / actions) * (right + down + left + up)
          : chances[k] * right + chances[k + 1] * down + chances[k + 2] * left + chances[k + 3] * up
    }
    for (let cell = 0; cell < cells; cell++)
      if (terminated[cell] === 0) worth[cell] = rewards[cell] + gamma * values[cell]
  }
  return values[start]
}

/** Puts the chances of the actions of highest value into `policy`; those of equal value share. */
export function greedyPolicy(q: Float64Array, policy: Float64Array): void {
  for (let from = 0; from < q.length; from += actions) {
    let [most, count] = [-Infinity, 0]
    for (let k = from; k < from + actions; k++) {
      if (q[k] > most) [most, count] = [q[k], 1]
      else if (q[k] === most) count++
    }
    for (let k = from; k < from + actions; k++) policy[k] = q[k] === most ? 1 / count : 0
  }
}

/** Where a move leads, with the slips of the level. */
export function moved({ next, slip }: Level, cell: number, action: number, random: Random): number {
  return next[cell * actions + (random.next() < slip ? Math.floor(random.next() * actions) : action)]
}
/** The reward on entering a cell, with the noise of the level. */
export const rewardOf = ({ rewards, noise }: Level, cell: number, random: Random): number =>
  rewards[cell] + noise * (2 * random.next() - 1)

/** Returns on levels in percent of what the best policies gain over the uniform one. */
export function percent(levels: readonly Level[], returns: readonly number[]): number {
  let [gained, most] = [0, 0]
  for (const [k, { best, uniform }] of levels.entries()) {
    gained += returns[k] - uniform
    most += best - uniform
  }
  return (100 * gained) / most
}

/** Levels of random features. */
export const randomLevels = (count: number, ...keys: (string | number)[]): Level[] =>
  each(count).map((k) => {
    const random = createRandom('level', ...keys, k)
    return levelOf(randomFeatures(random), random)
  })
