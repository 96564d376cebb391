import { expect, test } from 'vitest'
import { benchServers } from '../../../../../bench/servers/servers.ts'
import { createRandom } from '../../../../engine/random/index.ts'
import { validateArguments } from '../../../../untrusted/validate.ts'
import type { ChatMessage } from '../../../tokenizer/template.ts'
import { corpusConversation, corpusStages } from '../conversation.ts'
import type { Draw } from '../draw.ts'
import { isHeldOutWord, lexiconWords, synonymsOf } from '../lexicon.ts'
import { unseenVerbs } from './action-words.ts'
import { describedServer, inventServer, unseenServer, unseenWords } from './described-server.ts'
import { isTableName } from './server.ts'
import { isTableShape, toolShape } from './shape.ts'
import { tableServers } from './table-servers.ts'

const draw = (seed: number, pool: Draw['pool'] = 'train'): Draw => ({
  random: createRandom('servers', pool, seed),
  pool,
})
const conversations = Array.from({ length: 3000 }, (_, seed) => describedServer(draw(seed)))
const textOf = (messages: readonly ChatMessage[], role: ChatMessage['role']): string =>
  messages.flatMap((message) => (message.role === role ? [message.text] : [])).join('\n')

test('tools and arguments of every call are described, and no request names a tool', () => {
  for (const messages of conversations) {
    expect(messages[0].role).toBe('system')
    const lines = messages[0].text.split('\n')
    for (const { name, arguments: args } of messages.flatMap(({ calls }) => calls ?? [])) {
      const line = lines.find((one) => one.startsWith(`${name}(`))
      if (line === undefined) throw new Error(JSON.stringify(messages))
      for (const key of Object.keys(args)) expect(line).toContain(key)
      if (/[_-]|[a-z][A-Z]/.test(name)) expect(textOf(messages, 'user')).not.toContain(name)
    }
  }
})

test('servers are many: names, structures, sizes, kinds of requests and answers', () => {
  const names = new Set(conversations.map(([{ text }]) => text.replace(/\(.*/gm, '')))
  expect(names.size).toBeGreaterThan(2990)
  const calls = conversations.map(
    (messages) => messages.filter((message) => message.calls !== undefined).length,
  )
  for (const count of [1, 2, 3]) expect(calls.filter((one) => one === count).length).toBeGreaterThan(100)
  const answers = conversations.map((messages) => messages[messages.length - 1].text)
  expect(answers.filter((text) => text === 'done').length).toBeLessThan(2000)
  expect(answers.filter((text) => text === 'there is none').length).toBeGreaterThan(30)
  const sizes = Array.from({ length: 300 }, (_, seed) => inventServer(draw(seed)).length)
  expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([3, 12])
})

test('arguments match the schemas, and what fails says so', () => {
  let failures = 0
  for (let seed = 0; seed < 400; seed += 1)
    for (const tool of inventServer(draw(seed))) {
      const args = tool.draw()
      if (args === undefined) continue
      expect(
        validateArguments(tool.spec.inputSchema, structuredClone(args)),
        JSON.stringify([tool.spec, args]),
      ).toBeUndefined()
      try {
        expect(tool.run(args)).not.toMatch(/undefined|NaN|\[object/)
      } catch (error) {
        expect(String(error)).toContain('Error: ')
        failures += 1
      }
    }
  expect(failures).toBeLessThan(40)
})

test('no invented tool or server is one of the table, by name or by structure', () => {
  for (let seed = 0; seed < 1500; seed += 1) {
    const specs = inventServer(draw(seed)).map(({ spec }) => spec)
    expect(isTableShape(specs)).toBe(false)
    for (const { name } of specs) expect(isTableName(name), name).toBe(false)
  }
  // The check knows a server of the table under other names.
  const text = { type: 'string' }
  const tool = (name: string, properties: Record<string, object>, required: string[]) => ({
    name,
    inputSchema: { type: 'object', properties, required },
  })
  const keys = { slot: text, thing: text, until: { type: 'integer' } }
  const disguised = [
    tool('fill_slot', keys, ['slot', 'thing']),
    tool('look', { slot: text }, ['slot']),
    tool('drop_slot', { slot: text }, ['slot']),
    tool('slots', { like: text }, []),
  ]
  expect(disguised.map(toolShape)).toEqual(['(n?,s,s)', '(s)', '(s)', '(s?)'])
  expect(isTableShape(disguised)).toBe(true)
})

test('all servers of the table are known, with all their tools', () => {
  const counts = Object.fromEntries(
    Object.entries(tableServers).map(([name, tools]) => [name, Object.keys(tools).length]),
  )
  expect(counts).toEqual(Object.fromEntries(benchServers.map(({ name, tools }) => [name, tools])))
})

test('the words and kinds of server that are evaluated as unseen are in no stage', () => {
  for (const schedule of Object.values(corpusStages)) {
    expect(Object.keys(schedule)).not.toContain('unseen server')
    expect(Object.keys(schedule)).not.toContain('unseen words')
  }
  const trained = new Set(
    Array.from({ length: 3000 }, (_, seed) => corpusConversation(seed, 'train', 'described')).flatMap(
      (messages) =>
        textOf(messages, 'user')
          .toLowerCase()
          .match(/[a-z]+/g) ?? [],
    ),
  )
  const rare = unseenVerbs().filter((verb) => !verb.includes(' '))
  expect(rare.filter((verb) => trained.has(verb))).toEqual([])
  const requests = Array.from({ length: 200 }, (_, seed) =>
    textOf(unseenWords(draw(seed, 'probe')), 'user').toLowerCase(),
  )
  const strange = requests.filter((text) => rare.some((verb) => new RegExp(`\\b${verb}`).test(text)))
  expect(strange.length).toBeGreaterThan(60)
  const kinds = Array.from({ length: 50 }, (_, seed) => unseenServer(draw(seed, 'probe'))[0].text)
  expect(new Set(kinds).size).toBe(50)
})

test('the lexicon has thousands of words in both pools, and synonyms stay in theirs', () => {
  for (const kind of ['noun', 'verb', 'adjective'] as const) {
    expect(lexiconWords(kind, 'train').length).toBeGreaterThan(2000)
    expect(lexiconWords(kind, 'probe').length).toBeGreaterThan(150)
    expect(lexiconWords(kind, 'train').filter(isHeldOutWord)).toEqual([])
  }
  expect(synonymsOf('verb', 'buy', 'train').concat(synonymsOf('verb', 'buy', 'probe'))).toContain('purchase')
})
