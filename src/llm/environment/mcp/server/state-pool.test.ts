import { expect, onTestFinished, test, vi } from 'vitest'
import { InfrastructureError } from '../../../tool/tool.ts'
import { createStatePool, newState } from './state-pool.ts'
import type { StatePool, StateServer } from './state-pool.ts'

/** A list of words as the state; `add` writes, `show` reads, `fail` breaks the server. */
function listEnv(counts: { opened: number; resets: number }, snapshots: boolean): StateServer {
  counts.opened++
  let words: string[] = []
  return {
    toolbox: {
      specs: [],
      async call(name, args) {
        await Promise.resolve()
        if (name === 'fail') throw new InfrastructureError('broken')
        if (name === 'add') words = [...words, String(args['word'])]
        if (args['word'] === 'bad') return { text: 'no', isError: true }
        return { text: words.join(' '), isError: false }
      },
    },
    async reset() {
      counts.resets++
      words = []
    },
    ...(snapshots
      ? { snapshot: async () => words, restore: async (value: unknown) => void (words = value as string[]) }
      : {}),
    describe: async () => words.join('+'),
    close: async () => {},
  }
}

for (const snapshots of [true, false]) {
  test(`many states over two servers stay apart, ${snapshots ? 'by snapshots' : 'by repeating calls'}`, async () => {
    const counts = { opened: 0, resets: 0 }
    const pool = createStatePool({
      size: 2,
      open: async () => listEnv(counts, snapshots),
      writes: (name) => name === 'add',
    })
    const states = Array.from({ length: 9 }, (_, index) =>
      newState([{ name: 'add', arguments: { word: `seed${index}` } }]),
    )
    for (const word of ['one', 'two']) {
      await Promise.all(states.map((state) => pool.call(state, 'add', { word })))
    }
    const seen = await Promise.all(states.map((state) => pool.call(state, 'show', {})))
    expect(seen.map((result) => result.text)).toEqual(states.map((_, index) => `seed${index} one two`))
    expect(await pool.describe(states[4])).toBe('seed4+one+two')
    expect(counts.opened).toBe(2)
    await pool.close()
    await expect(pool.call(states[0], 'show', {})).rejects.toThrow(InfrastructureError)
  })
}

test('a server that breaks is replaced and nobody loses a state', async () => {
  const counts = { opened: 0, resets: 0 }
  const pool = createStatePool({
    size: 1,
    open: async () => listEnv(counts, true),
    writes: (name) => name === 'add',
  })
  const state = newState()
  await pool.call(state, 'add', { word: 'kept' })
  await expect(pool.call(newState(), 'fail', {})).rejects.toThrow('broken')
  expect((await pool.call(state, 'show', {})).text).toBe('kept')
  expect((await pool.call(newState(), 'show', {})).text).toBe('')
  expect(counts.opened).toBe(2)
})

test('a state that cannot be set is a fault of the environment, not of the agent', async () => {
  const counts = { opened: 0, resets: 0 }
  const pool = createStatePool({ size: 1, open: async () => listEnv(counts, true), writes: () => true })
  const state = newState([{ name: 'add', arguments: { word: 'bad' } }])
  await expect(pool.call(state, 'show', {})).rejects.toThrow(InfrastructureError)
  const own = newState()
  expect((await pool.call(own, 'add', { word: 'bad' })).isError).toBe(true)
  // The server is not broken: it is reset, not replaced.
  expect((await pool.call(newState(), 'show', {})).text).toBe('')
  expect(counts.opened).toBe(1)
})

test('a call that worked and fails when it is repeated masks the episode: its state is lost, not wrong', async () => {
  const counts = { opened: 0, resets: 0 }
  let works = true
  const pool = createStatePool({
    size: 1,
    async open() {
      const server = listEnv(counts, false)
      const call: StateServer['toolbox']['call'] = (name, args) =>
        works ? server.toolbox.call(name, args) : Promise.resolve({ text: 'timed out', isError: true })
      return { ...server, toolbox: { ...server.toolbox, call } }
    },
    writes: (name) => name === 'add',
  })
  const [state, other] = [newState(), newState()]
  await pool.call(state, 'add', { word: 'one' })
  // What failed for the agent may fail again.
  await pool.call(state, 'add', { word: 'bad' })
  await pool.call(other, 'add', { word: 'two' })
  expect((await pool.call(state, 'show', {})).text).toBe('one bad')
  await pool.call(other, 'show', {})
  works = false
  await expect(pool.call(state, 'show', {})).rejects.toThrow('answered otherwise when repeated: add')
})

test('reading calls need no reset', async () => {
  const counts = { opened: 0, resets: 0 }
  const pool = createStatePool({ size: 1, open: async () => listEnv(counts, false), writes: () => false })
  for (let index = 0; index < 5; index++) await pool.call(newState(), 'show', {})
  expect(counts).toEqual({ opened: 1, resets: 0 })
})

/** A pool of one server in which `hold` is answered on demand; `seen` has what reached the server. */
function gatedPool(): { pool: StatePool; seen: string[]; opened: () => number; open: () => void } {
  const seen: string[] = []
  const counts = { opened: 0, resets: 0 }
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const pool = createStatePool({
    size: 1,
    async open() {
      const server = listEnv(counts, true)
      const { toolbox } = server
      const call: StateServer['toolbox']['call'] = async (name, args, options) => {
        seen.push(`${name} ${String(args['word'])}`)
        if (name === 'hold') await gate
        options?.signal?.throwIfAborted()
        return toolbox.call(name, args)
      }
      return { ...server, toolbox: { ...toolbox, call } }
    },
    writes: () => false,
  })
  return { pool, seen, opened: () => counts.opened, open }
}

test('an aborted waiter leaves the queue, and no healthy server is closed', async () => {
  const { pool, seen, opened, open } = gatedPool()
  const first = pool.call(newState(), 'hold', { word: 'first' })
  const stop = new AbortController()
  const impatient = pool.call(newState(), 'show', { word: 'impatient' }, { signal: stop.signal })
  const patient = pool.call(newState(), 'show', { word: 'patient' })
  // Given its server and aborted before it can go on.
  const late = new AbortController()
  const tooLate = pool.call(newState(), 'show', { word: 'late' }, { signal: late.signal })
  stop.abort(new Error('enough'))
  await expect(impatient).rejects.toThrow('enough')
  void patient.then(() => late.abort(new Error('late')))
  open()
  await first
  await patient
  await expect(tooLate).rejects.toThrow('late')
  await pool.call(newState(), 'show', { word: 'after' })
  expect(seen.filter((call) => !call.includes('late'))).toEqual(['hold first', 'show patient', 'show after'])
  expect(opened()).toBe(1)
})

test('calls that wait when the pool is closed are refused, and no server is opened for them', async () => {
  const { pool, seen, opened, open } = gatedPool()
  const first = pool.call(newState(), 'hold', {})
  const waiting = pool.call(newState(), 'show', {})
  const refused = expect(waiting).rejects.toThrow('the environment is closed')
  await expect.poll(() => seen.length).toBe(1)
  const closing = pool.close()
  open()
  await Promise.all([refused, closing, first])
  expect(opened()).toBe(1)
})

test('deadlines pause while a call waits for its server and its state, not while it runs', async () => {
  const { pool, open } = gatedPool()
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const first = pool.call(newState(), 'hold', {}, { seconds: 5 })
  const waits: boolean[] = []
  const second = pool.call(newState(), 'show', {}, { seconds: 0.05, onWait: (now) => waits.push(now) })
  await vi.advanceTimersByTimeAsync(150)
  open()
  expect((await second).isError).toBe(false)
  await first
  expect(waits).toEqual([true, false])
})

test('many calls may wait on one signal without a warning', async () => {
  const warnings: string[] = []
  const hear = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  const counts = { opened: 0, resets: 0 }
  const pool = createStatePool({ size: 1, open: async () => listEnv(counts, true), writes: () => false })
  const { signal } = new AbortController()
  await Promise.all(Array.from({ length: 20 }, () => pool.call(newState(), 'show', {}, { signal })))
  // Warnings come in a turn of their own.
  await new Promise((resolve) => setImmediate(resolve))
  expect(warnings).toEqual([])
  await pool.close()
})

test('servers started early wait for their calls, and after a restart a new one takes over', async () => {
  const counts = { opened: 0, resets: 0 }
  const pool = createStatePool({
    size: 3,
    open: async () => listEnv(counts, false),
    writes: (name) => name === 'add',
  })
  pool.limit(1)
  const state = newState()
  await pool.call(state, 'add', { word: 'one' })
  pool.open(2)
  await vi.waitFor(() => expect(counts.opened).toBe(2))
  // The limit holds: further states take turns on the first server.
  await Promise.all([newState(), newState()].map((other) => pool.call(other, 'add', { word: 'two' })))
  expect(counts.opened).toBe(2)
  await pool.restart()
  // The second took the place of the first, and another one starts in its own.
  await vi.waitFor(() => expect(counts.opened).toBe(3))
  const resets = counts.resets
  expect((await pool.call(newState(), 'show', {})).text).toBe('')
  expect(counts.resets).toBe(resets)
  expect((await pool.call(state, 'show', {})).text).toBe('one')
  await pool.close()
})

test('a server that cannot be started early is started again by the first call, which says why it fails', async () => {
  let tries = 0
  const pool = createStatePool({
    size: 1,
    open: async () => {
      tries++
      throw new InfrastructureError(`no start ${tries}`)
    },
    writes: () => false,
  })
  pool.open(1)
  await vi.waitFor(() => expect(tries).toBe(1))
  await expect(pool.call(newState(), 'show', {})).rejects.toThrow('no start 2')
  await pool.close()
})
