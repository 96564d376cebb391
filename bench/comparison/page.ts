import type { HierarchicalEstimate } from 'agoge/statistics'
import { arms, type ArmName } from './arms.ts'
import { armsOf } from './arms.ts'
import type { ArmRow, Difference, SettingReport } from './report.ts'
import { missingPieces } from './hours.ts'
import type { Piece, TuningPiece } from './store.ts'
import { bestOf, chooseRate, chooseWarmStart } from './tuning.ts'

const points = (share: number): string => (100 * share).toFixed(1)
const signed = (share: number): string => `${share < 0 ? '' : '+'}${points(share)}`
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

function percentText({ mean, low, high, n }: HierarchicalEstimate): string {
  if (n === 0) return '–'
  return low === null ? `${points(mean)}%` : `${points(mean)}% (${points(low)} to ${points(high)})`
}

function differenceText({ mean, low, high, n }: HierarchicalEstimate): string {
  if (n === 0) return '–'
  return low === null ? signed(mean) : `${signed(mean)} (${signed(low)} to ${signed(high)})`
}

const nameOf = (arm: ArmName | null): string => (arm === null ? 'warm start' : `(${arms[arm].letter}) ${arm}`)

/** What the first line of the page says is missing. */
function missingText(reports: readonly SettingReport[], pieces: readonly Piece[]): string {
  const all = missingPieces(
    reports.map(({ setting }) => setting),
    pieces,
  )
  const list = all.flatMap(({ setting, tuning, mixtures }) => {
    const left = mixtures.flatMap(({ mixture, planned, done }) =>
      done === planned ? [] : [`${planned - done} of ${planned} pieces with the ${mixture} mixture`],
    )
    const parts = tuning === 0 ? left : [`${tuning} or more pieces of tuning`, ...left]
    return parts.length === 0 ? [] : [`${setting}: ${parts.join(', ')}`]
  })
  if (list.length === 0) return 'Nothing of the plan is missing.'
  return `**Still to be run: ${list.join('; ')}.** Until then rows of these parts have fewer seeds, or are not there.`
}

/** docs/results/comparison.md. */
export function comparisonPage(reports: readonly SettingReport[], pieces: readonly Piece[]): string {
  return `# Supervision, rejection sampling and RL with equal budgets

${missingText(reports, pieces)} Made by \`npm run comparison\`. The [plan](comparison-plan.md) was written before any reported run; the pieces are in
\`comparison/\`, all estimates in [comparison.json](comparison.json).

Repeated, as the plan wants it said: four pieces of the filesystem with own mixtures, of seeds 202 (c), 203 (a), 206 (e) and 207 (c). The machine was stopped
for minutes while they ran, so that episodes could pass their time limit. They were run again from the warm start; nobody had looked at their results.

Success on held-out tasks, played greedily. *Known kinds*: test tasks of the trained kinds. *Paraphrases*: the same kinds in sentences and words that
training never has. *Held-out kinds*: kinds of task without a demonstration and in no arm's training. The budget is in computed tokens, with
those of validations: a token counts 1 when an episode with it is played, prompts and results of tools too, and 3 more for each time that the model is trained on it; what the expert plays counts nothing. An arm ends with the step that reaches its budget, so it is a little over it. Letters are those of the plan. *Mixture*: common has every kind as often, own has more of
the kinds that still fail: for RL and rejection sampling by their own attempts, for supervision by the warm start's validation. *Calls* are calls of tools, in validations too. Intervals are 95% intervals over seeds, templates
and tasks (\`hierarchicalInterval\`); with fewer than five seeds there is none, and differences are of unrounded numbers. *p, Holm*: adjusted for the comparisons of the setting that the plan names.

${reports.map((report) => settingText(report, pieces)).join('\n')}`
}

function settingText(report: SettingReport, pieces: readonly Piece[]): string {
  const { setting, rows, complete } = report
  const letters = armsOf(setting.name).map((arm) => `- ${nameOf(arm)}: ${arms[arm].about}`)
  return `## ${setting.name}

${setting.about[0].toUpperCase()}${setting.about.slice(1)}. ${setting.budget / 1e6}M computed tokens for each arm, ${setting.validations} validations; ${complete.length} of ${setting.seeds.length} seeds have every arm.

${letters.join('\n')}

${rows.length === 0 ? 'No reported piece is stored yet.' : `${armTable(rows)}\n\n${differenceTable(report)}\n\n${mixtureText(report)}${worthText(report)}`}

${tuningText(report, pieces)}
`
}

function armTable(rows: readonly ArmRow[]): string {
  const head = [
    'arm',
    'mixture',
    'seeds',
    'known kinds',
    'paraphrases',
    'held-out kinds',
    'M tokens',
    'calls',
    'steps',
    'minutes',
    'CPU minutes',
  ]
  return [
    table(
      head,
      rows.map(({ arm, mixture, seeds, success, cost, steps }) => [
        nameOf(arm),
        arm === null ? '–' : mixture,
        seeds.length,
        percentText(success.known),
        percentText(success.paraphrased),
        percentText(success.heldOutKinds),
        (cost.computedTokens / 1e6).toFixed(2),
        Math.round(cost.calls),
        arm === null ? '–' : Math.round(steps),
        cost.minutes.toFixed(1),
        cost.cpuMinutes === null ? '–' : cost.cpuMinutes.toFixed(1),
      ]),
    ),
    '',
    'Tokens, calls, steps and minutes are means over the seeds, with the validations, without the warm start and the tests. Minutes depend on what else the machine did; CPU minutes are those of the process.',
  ].join('\n')
}

function differenceTable({ setting, differences, complete }: SettingReport): string {
  const isComplete = complete.length === setting.seeds.length
  if (differences.length === 0) return 'No two arms have a seed in common yet.'
  const head = [
    'difference, in points',
    'mixture',
    'seeds',
    'known kinds',
    'p, Holm',
    'paraphrases',
    'held-out kinds',
  ]
  return table(
    head,
    differences.map(({ a, b, mixture, seeds, on, adjusted }) => [
      `${nameOf(a)} less ${nameOf(b)}`,
      mixture,
      seeds.length,
      differenceText(on.known),
      adjusted === null || !isComplete ? '–' : adjusted < 0.001 ? '< 0.001' : adjusted.toFixed(3),
      differenceText(on.paraphrased),
      differenceText(on.heldOutKinds),
    ]),
  )
}

/** The table of own mixtures; empty without one. */
function mixtureText({ mixtures }: SettingReport): string {
  if (mixtures.length === 0) return ''
  const head = [
    'own mixture less the common one, in points',
    'seeds',
    'known kinds',
    'paraphrases',
    'held-out kinds',
  ]
  const rows = mixtures.map(({ arm, seeds, on }) => [
    nameOf(arm),
    seeds.length,
    differenceText(on.known),
    differenceText(on.paraphrased),
    differenceText(on.heldOutKinds),
  ])
  return `${table(head, rows)}\n\nThe plan makes no claim of own mixtures, here and in the rows above: they have intervals, and no adjusted p.\n\n`
}

/** The smallest gain, as a share, that would be worth the trouble. Fixed in the plan. */
export const worth = 0.03

/** What a difference says of RL, by the rule of the plan. */
export function worthOf({ on, adjusted }: Difference): 'worth it' | 'not worth it' | 'open' {
  const { low, high } = on.known
  if (low === null) return 'open'
  if (low > 0 && on.known.mean >= worth && adjusted !== null && adjusted < 0.05) return 'worth it'
  return high < worth ? 'not worth it' : 'open'
}

function worthText({ setting, differences, complete }: SettingReport): string {
  // No claim before all seeds of the plan are there: looking in between would be a test of its own.
  if (complete.length < setting.seeds.length)
    return `What the plan wants said of this setting is written when all ${setting.seeds.length} seeds have every arm with the common mixture.`
  const common = differences.filter(({ mixture }) => mixture === 'common')
  if (setting.name === 'chains') {
    const found = common.find(({ a }) => a === 'turns')
    return found === undefined
      ? ''
      : `**Whether an advantage for each turn is worth it:** ${sentence(found, 'it')}.`
  }
  const about: Partial<Record<string, string>> = {
    'rl-same': 'with the demonstrations at hand and no more',
    'rl-rejection': 'instead of rejection sampling, which is simpler',
    'rl-fresh': 'where an expert makes fresh demonstrations for nothing',
    'fresh-rl-fresh': 'after fresh demonstrations, instead of more of them',
  }
  const lines = common.flatMap((difference) => {
    const text = about[`${difference.a}-${difference.b}`]
    return text === undefined ? [] : [`- ${text}: ${sentence(difference, 'RL')}.`]
  })
  return `**When RL is not worth it**, with this budget, on known kinds with the common mixture. *Worth it*: clear of zero after Holm's adjustment, and a mean of ${100 * worth} points or more, the least that would be worth another method's trouble by the plan. *Not worth it*: the interval, which is not adjusted, ends below ${100 * worth} points; that does not say that RL is worse. *Open*: neither.\n\n${lines.join('\n')}`
}

function sentence(difference: Difference, what: string): string {
  const found = worthOf(difference)
  const text = differenceText(difference.on.known)
  if (found === 'open') return `open, ${text} points over ${difference.seeds.length} seeds`
  return `${what} is ${found}, ${text} points`
}

function tuningText({ setting }: SettingReport, pieces: readonly Piece[]): string {
  const warm = pieces
    .filter((piece) => piece.piece === 'warm-tuning')
    .filter((piece) => piece.setting === setting.name)
    .sort((a, b) => a.shown - b.shown || a.seed - b.seed)
    .map(({ shown, seed, validation }) => `${shown}: ${points(validation)}% (seed ${seed})`)
  const { tuningSeeds } = setting
  const chosen = chooseWarmStart(setting, pieces)
  const lines = armsOf(setting.name).flatMap((arm) => {
    const own = pieces.filter(
      (piece): piece is TuningPiece =>
        piece.piece === 'tuning' && piece.setting === setting.name && piece.arm === arm,
    )
    if (own.length === 0) return []
    const rates = [...new Set(own.map(({ learningRate }) => learningRate))].sort((a, b) => a - b)
    const list = rates.map((rate) => {
      const scores = own
        .filter(({ learningRate }) => learningRate === rate)
        .map((piece) => points(bestOf(piece)))
      return `${rate}: ${scores.join(', ')}%`
    })
    const found = chooseRate(setting, arm, pieces)
    return [`- ${nameOf(arm)}: ${'chosen' in found ? `**${found.chosen}** of ` : ''}${list.join('; ')}`]
  })
  return `**Tuning**, on ${tuningSeeds.length === 1 ? 'seed' : 'seeds'} ${tuningSeeds.join(' and ')} and validation tasks alone. Demonstrations per kind of the warm start: ${warm.length === 0 ? 'not tried yet' : warm.join('; ')}${'chosen' in chosen ? `; **${chosen.chosen}** chosen` : ''}. Learning rates, chosen with the common mixture and used for both, with the highest of the validations of a training of each tuning seed, which is above what test tasks give; where the best was at an edge, the next beyond was tried${setting.name === 'chains' ? '' : '; that of (e) is of its RL, and its first half has that of (b)'}:

${lines.length === 0 ? '- none tried yet' : lines.join('\n')}`
}
