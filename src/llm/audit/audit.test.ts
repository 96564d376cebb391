import { expect, test } from 'vitest'
import { auditTable, auditText } from './report.ts'
import { cheatRates } from './cheating-agents.ts'
import { phoneBook, transfers, windows } from './testing/answer-cases.ts'
import { auditCase } from './testing/audit-case.ts'
import { gradedNotes } from './testing/session-cases.ts'
import { appointments, calendar } from './testing/state-cases.ts'

test('a judge that takes any answer with the number in it is found, and the report says how', async () => {
  const report = await auditCase(phoneBook, 'wrong', { effort: 100 })
  expect(report).toMatchObject({ checked: 'state and answer', tasks: 30, leftOut: 0 })
  expect(report.findings).toContain('stuff the answer')
  const stuffing = report.attacks.find(({ name }) => name === 'stuff the answer')
  expect(stuffing?.rate.mean).toBeGreaterThan(0.9)
  expect(stuffing?.kinds['phone'].n).toBe(30)
  const text = auditText(report).join('\n')
  expect(text).toContain("the expert's")
  expect(text).toContain('change: Require the value alone')
  expect(text).toMatch(/request: .*\n.*\n? {4}answer: /)
  expect(auditTable(report).rows.some(([name]) => name === '! stuff the answer')).toBe(true)
})

test('the same audit gives the same report', async () => {
  const [one, other] = [
    await auditCase(calendar, 'wrong', { effort: 60 }),
    await auditCase(calendar, 'wrong', { effort: 60 }),
  ]
  expect(one.findings).toContain('change more than asked')
  expect(other).toEqual(one)
})

test('a session without a state: the answer is compared, and the report says that only this was', async () => {
  const report = await auditCase(gradedNotes, 'right', { effort: 60 })
  expect(report).toMatchObject({ checked: 'answer alone', findings: [] })
  expect(auditText(report)[0]).toContain('what the calls changed was not checked')
})

test('without state and required answers nothing is checked, and nothing claimed', async () => {
  const opened = await gradedNotes.open('wrong')
  const tasks = Array.from({ length: 6 }, (_, seed) => ({
    ...opened.tasks.task({ split: 'test', seed }),
    freeAnswer: true,
  }))
  const report = await auditCase(gradedNotes, 'wrong', { ...opened, tasks, practice: tasks, effort: 60 })
  expect(report).toMatchObject({ checked: 'nothing', findings: [] })
  expect(auditText(report).join('\n')).toContain('this says nothing about the judge')
})

test('your own check replaces the comparison with the expert', async () => {
  const done = (outcome: Parameters<typeof appointments.done>[0]): boolean => appointments.done(outcome)
  expect(await auditCase(appointments, 'right', { done, effort: 100 })).toMatchObject({
    checked: 'your own check',
    findings: [],
  })
  const never = await auditCase(appointments, 'right', { done: () => false, effort: 60 })
  expect(never.findings).toContain('random search')
})

test('episodes that cannot be judged are counted as masked, in no rate', async () => {
  const { environment } = await calendar.open('right')
  const fragile = {
    ...environment,
    async open(...given: Parameters<typeof environment.open>) {
      const session = await environment.open(...given)
      return {
        ...session,
        judge: (outcome: Parameters<typeof session.judge>[0]) =>
          outcome.answer === 'done'
            ? session.judge(outcome)
            : Promise.reject(new Error('cannot read the answer')),
      }
    },
  }
  const report = await auditCase(calendar, 'right', { environment: fragile, effort: 60 })
  const refusing = report.attacks.find(({ name }) => name === 'always refuse')
  expect(refusing).toMatchObject({ masked: 30, rate: { n: 0 }, isFinding: false })
  expect(auditText(report).join('\n')).toContain('avoids its failures')
})

test('an environment whose expert fails has nothing to compare with', async () => {
  const opened = await phoneBook.open('right')
  const tasks = [{ ...opened.tasks.task({ split: 'test', seed: 0 }), plan: () => ({ answer: 'no' }) }]
  await expect(auditCase(phoneBook, 'right', { ...opened, tasks, practice: tasks })).rejects.toMatchObject({
    code: 'bad-environment',
  })
})

test('rates of agents that solve nothing on purpose, by kind, with the chance that a kind states', async () => {
  const opened = await transfers.open('right')
  const tasks = Array.from({ length: 40 }, (_, seed) => opened.tasks.task({ split: 'test', seed }))
  const rates = await cheatRates(opened.environment, tasks)
  expect(rates['always refuse']).toMatchObject({
    possible: { mean: 0, n: 20 },
    impossible: { mean: 1, chance: 0 },
  })
  expect(rates['do nothing']['impossible'].mean).toBe(0)
  const guessed = await windows.open('right')
  const asked = Array.from({ length: 40 }, (_, seed) => guessed.tasks.task({ split: 'test', seed }))
  const { ask } = (await cheatRates(guessed.environment, asked))['any string seen']
  expect(ask).toMatchObject({ chance: 0.5, n: 40 })
})
