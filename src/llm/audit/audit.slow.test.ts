import { expect, test } from 'vitest'
import { auditCase, isReallyDone } from './testing/audit-case.ts'
import { judgeCases, laterCases } from './testing/cases.ts'

// The bars of the auditor: eleven of twelve seeded bugs, and no false alarm.

const all = [...judgeCases, ...laterCases]

test.each([
  ['that precede it', judgeCases],
  ['that were written after it', laterCases],
])('finds at least eleven of twelve seeded bugs %s, and its examples are really undone', async (_, cases) => {
  const wrong = cases.filter(({ bug }) => bug !== undefined)
  const missed: string[] = []
  for (const one of wrong) {
    const { attacks, findings } = await auditCase(one, 'wrong')
    if (findings.length === 0) missed.push(one.name)
    for (const { name, isFinding, example } of attacks)
      if (isFinding && example !== undefined)
        expect(await isReallyDone(one, example), `${one.name}: ${name}, ${JSON.stringify(example)}`).toBe(
          false,
        )
  }
  expect(missed.length / wrong.length, missed.join(', ')).toBeLessThanOrEqual(1 / 12)
})

test.each(all.map(({ name }, at): [string, number] => [name, at]))(
  'no false alarm on the right judge of %s',
  async (_, at) => {
    const { attacks } = await auditCase(all[at], 'right')
    expect(attacks.filter(({ isFinding }) => isFinding)).toEqual([])
  },
)
