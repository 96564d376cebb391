import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createFutures } from './futures.ts'
import { refuse } from './fields.ts'
import { createWorkQueue } from './work-queue.ts'

const drawing = (drawn: string[][]) => async (rows: string[]) => {
  drawn.push(rows)
  return rows.map((row) => `${row}!`)
}

test('work is carried out one piece after the other, in its order, whatever becomes of it', async () => {
  const queue = createWorkQueue({ limit: 10 })
  const log: string[] = []
  const work = [30, 1, 10].map((time, i) =>
    queue.run(async () => {
      log.push(`begin ${i}`)
      await sleep(time)
      log.push(`end ${i}`)
      if (i === 1) throw new Error('one')
      return i
    }),
  )
  await expect(work[1]).rejects.toThrow('one')
  expect([await work[0], await work[2]]).toEqual([0, 2])
  expect(log).toEqual(['begin 0', 'end 0', 'begin 1', 'end 1', 'begin 2', 'end 2'])
})

test('samples of one group are batched, and a batch contains only its samples in the order of their index', async () => {
  const queue = createWorkQueue({ limit: 20 })
  const drawn: string[][] = []
  const job = (group: string, row: string, batch?: { id: string; index: number; count: number }) =>
    queue.sample({ group, rows: [row, row.toUpperCase()], draw: drawing(drawn), ...(batch && { batch }) })
  const late = { id: 'b', count: 3 }
  const results = await Promise.all([
    job('x', 'p', { ...late, index: 2 }),
    job('x', 'a'),
    job('y', 'c'),
    job('x', 'q', { ...late, index: 0 }),
    job('x', 'b'),
    sleep(30).then(() => job('x', 'r', { ...late, index: 1 })),
  ])
  expect(results[0]).toEqual(['p!', 'P!'])
  expect(results[5]).toEqual(['r!', 'R!'])
  expect(drawn).toEqual([
    ['a', 'A', 'b', 'B'],
    ['c', 'C'],
    ['q', 'Q', 'r', 'R', 'p', 'P'],
  ])
})

test('samples that are apart are drawn beside other work, those of a live model in turn with it', async () => {
  const queue = createWorkQueue({ limit: 10 })
  const log: string[] = []
  let finish: () => void = () => {}
  const work = queue.run(async () => {
    await new Promise<void>((resolve) => (finish = resolve))
    log.push('work')
  })
  const draw = async (rows: string[]) => {
    log.push(...rows)
    return rows
  }
  const live = queue.sample({ group: 'x', rows: ['live'], draw })
  await queue.sample({ group: 'y', rows: ['apart'], isApart: () => true, draw })
  expect(log).toEqual(['apart'])
  finish()
  await Promise.all([work, live])
  expect(log).toEqual(['apart', 'work', 'live'])
})

test('a full queue refuses work, a closed one drops waiting work and finishes running work', async () => {
  const queue = createWorkQueue({ limit: 2 })
  let done = false
  const begun = queue.run(async () => {
    await sleep(30)
    done = true
  })
  const waiting = [1, 2].map(() => queue.run(async () => {}).catch((error: unknown) => error))
  expect(() => queue.run(async () => {})).toThrow(expect.objectContaining({ code: 'tinker-busy' }))
  await queue.close()
  expect(done).toBe(true)
  await begun
  for (const each of waiting) expect(await each).toMatchObject({ code: 'tinker-closing' })
  expect(() => queue.run(async () => {})).toThrow(expect.objectContaining({ code: 'tinker-closing' }))
})

test('futures: pending until done, sent more than once, and never those of another server', async () => {
  const faults: unknown[] = []
  const futures = createFutures((error) => faults.push(error))
  let finish: (value: string) => void = () => {}
  const id = futures.add('other', new Promise<string>((resolve) => (finish = resolve)))
  expect(await futures.take(id, 0.01)).toEqual({ state: 'pending' })
  const asked = futures.take(id, 10)
  finish('there')
  expect(await asked).toEqual({ state: 'done', result: 'there', kind: 'other' })
  expect(await futures.take(id, 10)).toEqual({ state: 'done', result: 'there', kind: 'other' })
  const user = futures.add('other', Promise.reject(refuse('tinker-bad-request', 'wrong')))
  expect(await futures.take(user, 1)).toEqual({
    state: 'failed',
    error: 'wrong',
    category: 'user',
    code: 'tinker-bad-request',
  })
  const own = futures.add('other', Promise.reject(new Error('secret path')))
  expect(await futures.take(own, 1)).toMatchObject({
    category: 'server',
    error: expect.not.stringContaining('secret') as unknown,
  })
  expect(faults).toHaveLength(1)
  const stranger = createFutures(() => {}).add('other', Promise.resolve())
  await expect(futures.take(stranger, 1)).rejects.toMatchObject({ code: 'tinker-not-found' })
  await expect(futures.take(id.replace(/\d+$/, '99'), 1)).rejects.toMatchObject({ code: 'tinker-not-found' })
})
