import { expect, test } from 'vitest'
import { createTurnQueue } from './threads.ts'

test('alone tasks wait for all earlier tasks, concurrent tasks for alone ones', async () => {
  const queue = createTurnQueue()
  const seen: string[] = []
  const task =
    (name: string, fails = false) =>
    async () => {
      seen.push(`${name} begins`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      seen.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    }
  const all = [
    queue.concurrent(task('a')),
    queue.concurrent(task('b', true)),
    queue.alone(task('c', true)),
    queue.concurrent(task('d')),
    queue.concurrent(task('e')),
    queue.alone(task('f')),
  ]
  expect((await Promise.allSettled(all)).map(({ status }) => status === 'fulfilled')).toEqual([
    true,
    false,
    false,
    true,
    true,
    true,
  ])
  expect(seen.join()).toBe(
    'a begins,b begins,a ends,b ends,c begins,c ends,d begins,e begins,d ends,e ends,f begins,f ends',
  )
  expect(await queue.alone(task('g'))).toBe('g')
})
