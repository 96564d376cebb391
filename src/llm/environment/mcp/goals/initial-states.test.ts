import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createToolsEnvironment } from '../../tools/tools-environment.ts'

const cities = ['London', 'Arlington', 'Oslo', 'Bergen', 'Quito', 'Lima', 'Dakar', 'Hanoi', 'Kyoto']

/** A register that begins with nine people, of whom anybody may move. */
function register() {
  const people = cities.map((homeCity, at) => ({ personName: `Person${at}`, homeCity, age: 30 + at }))
  const one = (name: string) => {
    const found = people.find(({ personName }) => personName === name)
    if (found === undefined) throw new Error(`no person ${name}`)
    return found
  }
  const personName = z.string()
  return {
    list_people: { description: 'List all people', inputSchema: z.object({}), execute: () => ({ people }) },
    get_person: {
      description: 'Get a person',
      inputSchema: z.object({ personName }),
      execute: (given: { personName: string }) => one(given.personName),
    },
    movePerson: {
      description: 'Move a person to another city',
      inputSchema: z.object({ personName, homeCity: z.string() }),
      execute: (given: { personName: string; homeCity: string }) => {
        one(given.personName).homeCity = given.homeCity
        return 'moved'
      },
    },
  }
}

test('a server with records of its own begins most tasks in another state, which is asked about', async () => {
  const environment = await createToolsEnvironment({
    tools: register,
    writes: ['movePerson'],
    observe: ['list_people'],
  })
  onTestFinished(() => environment.close())
  const { tasks } = await environment.prepareTasks({
    seed: 3,
    counts: { train: 120, validation: 12, test: 24 },
  })
  const train = tasks.all('train')
  const changed = train.filter(({ seeds }) => seeds.length > 0)
  expect(changed.length).toBeGreaterThan(0.5 * train.length)
  expect(changed.length).toBeLessThan(0.9 * train.length)
  expect(changed.every(({ seeds }) => seeds.every(({ name }) => name === 'movePerson'))).toBe(true)
  // Where nobody moved, a ninth of the questions about one person would be about a given one.
  const asked = changed.filter(({ kind }) => kind === 'get_person')
  const about = asked.filter(({ seeds, reference = [] }) =>
    seeds.some((seed) => seed.arguments['personName'] === reference[0]?.arguments['personName']),
  )
  expect(asked.length).toBeGreaterThan(5)
  expect(about.length).toBeGreaterThan(0.4 * asked.length)
})
