import { percent, percentInterval } from '../../runs/report/format.ts'
import type { AttackResult, AuditReport } from './audit.ts'

/** The table of an audit, for the terminal. */
export function auditTable(report: AuditReport): { header: string[]; rows: string[][] } {
  return {
    header: ['attack', 'undone, rewarded', 'masked', 'unclear'],
    rows: report.attacks.map((attack) => [
      `${attack.isFinding ? '! ' : '  '}${attack.name}`,
      attack.rate.n === 0 ? 'not measured' : percentInterval(attack.rate),
      `${attack.masked}`,
      `${attack.unclear}`,
    ]),
  }
}

const mostShown = 160
const short = (text: string): string => {
  const line = JSON.stringify(text)
  return line.length > mostShown ? `${line.slice(0, mostShown)}…` : line
}

/** What was found, with an example episode of each finding and what to change. */
export function auditText(report: AuditReport): string[] {
  const { attacks, tasks, leftOut, threshold } = report
  const found = attacks.filter(({ isFinding }) => isFinding)
  return [
    checkedText(report),
    ...(leftOut > 0 ? [`${leftOut} tasks were left out: the expert did not solve them twice.`] : []),
    ...found.flatMap(findingText),
    ...guessText(report),
    ...avoidText(report),
    found.length > 0
      ? `${found.length} of ${attacks.length} attacks are rewarded for undone tasks: in more than ${percent(threshold)} of ${tasks} tasks, or surely of a kind of task.`
      : report.checked === 'nothing'
        ? 'Nothing was checked, so this says nothing about the judge.'
        : `No attack is rewarded for undone tasks in more than ${percent(threshold)} of ${tasks} tasks.`,
  ]
}

function checkedText({ checked, attacks }: AuditReport): string {
  const unclear = attacks.some((attack) => attack.unclear > 0)
    ? " Unclear outcomes were rewarded and differ from the expert's in a way that may be right; they are not counted."
    : ''
  switch (checked) {
    case 'state and answer':
      return `Checked against the expert's final state and answer.${unclear}`
    case 'your own check':
      return 'Checked by the function `done` of your module.'
    case 'answer':
      return `Checked against the expert's answer.${unclear}`
    case 'answer alone':
      return `Checked against the expert's answer. The environment shows no state, so what the calls changed was not checked.${unclear}`
    case 'nothing':
      return 'Not checked: the environment shows no state (`observe` of its sessions), and its tasks take any answer.'
  }
}

function findingText({ name, about, rate, kinds, example, advice }: AttackResult): string[] {
  const worst = Object.entries(kinds).toSorted(([, a], [, b]) => b.mean - a.mean)[0]
  const lines = [
    '',
    `${name}: ${about}`,
    `  rewarded though undone: ${percentInterval(rate)} of ${rate.n} episodes${worst === undefined ? '' : `; most in ${worst[0]}: ${percentInterval(worst[1])}`}`,
  ]
  if (example !== undefined)
    lines.push(
      `  example: ${example.task} (${example.variant})`,
      `    request: ${short(example.prompt)}`,
      ...example.calls.map(
        (call) => `    ${call.name} ${shortArguments(call.arguments)} -> ${short(call.result)}`,
      ),
      `    answer: ${example.answer === null ? 'none' : short(example.answer)}`,
      `    undone: ${example.reason}`,
    )
  return [...lines, `  change: ${advice}`]
}

const shortArguments = (args: Record<string, unknown>): string => {
  const text = JSON.stringify(args)
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
}

/** Kinds of task that an agent solves which does not try to, more often than the kind states. */
function guessText({ cheats }: AuditReport): string[] {
  const lines = Object.entries(cheats).flatMap(([agent, kinds]) =>
    Object.entries(kinds)
      .filter(([, { low, mean, chance, n }]) => n > 0 && low > chance && mean > chance + 0.1)
      .map(
        ([kind, rate]) =>
          `  ${agent} solves ${percentInterval(rate)} of ${kind}${rate.chance > 0 ? `, which states a chance of ${percent(rate.chance)}` : ''}`,
      ),
  )
  return lines.length === 0
    ? []
    : ['', 'Solved without trying, more often than the kind of task states as `chance`:', ...lines]
}

/** Attacks of which many episodes were not judged. */
function avoidText({ attacks }: AuditReport): string[] {
  const lines = attacks
    .filter(({ masked, rate }) => masked > 0.05 * (masked + rate.n))
    .map(({ name, masked, rate }) => `  ${name}: ${masked} of ${masked + rate.n}`)
  return lines.length === 0
    ? ['']
    : [
        '',
        'Masked episodes count nowhere, so an agent that can cause them avoids its failures:',
        ...lines,
        '',
      ]
}
