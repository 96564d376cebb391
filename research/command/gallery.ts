import { type Comparison, effectText, short, type Verdict } from '../runner/judge.ts'
import type { Plan } from '../runner/plan.ts'
import type { PaperResult } from '../runner/result.ts'
import { galleryStyle } from './gallery-style.ts'
import { armTracks, effectTracks, escape } from './gallery-tracks.ts'

/** A result and the plan it was run under. */
export interface Shown {
  plan: Plan
  result: PaperResult
}

/** How many papers have no result that counts. */
export interface LeftOut {
  notPlanned: number
  notRun: number
  outOfDate: number
}

const verdicts: Record<Verdict, string> = {
  reproduced: 'better than every rival',
  contradicted: 'a rival is better',
  equivalent: 'the difference is smaller than what counts',
  underpowered: 'the runs do not decide',
  invalid: 'a check or a control failed',
}

/** One self-contained page with the claim, the verdict, the effects, the checks and the arms of every paper that has a result. */
export function renderGallery(shown: readonly Shown[], left: LeftOut): string {
  const counts = Object.entries(verdicts).map(([verdict, meaning]) => {
    const count = shown.filter(({ result }) => result.verdict === verdict).length
    return `<li><span class="${verdict}">${count} ${verdict}</span> ${meaning}</li>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agoge: papers</title>
<style>${galleryStyle}</style>
</head>
<body>
<h1>Papers</h1>
<p>${shown.length} ${shown.length === 1 ? 'experiment' : 'experiments'}, each with a plan that was committed before its run. The plan says which effect counts, and how many seeds
it needs.</p>
<ul class="counts">${counts.join('')}</ul>
<p class="small">Not shown: ${left.notPlanned} not planned, ${left.notRun} planned and not run, ${left.outOfDate} out of date.</p>
<p class="small">Effects: the dot is the effect, the bar its interval after Holm's correction, the line no effect, the shaded band what is too
small to count; on the right of the line the claimed arm is better. Arms: every dot is a run, the bar is the 95% interval of the mean.</p>
${shown.map(section).join('\n')}
</body>
</html>
`
}

function section({ plan, result }: Shown): string {
  const { design } = plan
  return `<section id="${escape(result.id)}">
<h2>${escape(result.title)} <span class="${result.verdict}">${result.verdict}</span></h2>
<p>${escape(result.claim)}</p>
${plan.underpowered === null ? '' : `<p class="small">Underpowered by its plan: ${escape(plan.underpowered)}.</p>`}
<h3>Effects</h3>
<p class="small">${effectHeading(plan)}</p>
${effectTracks(result.comparisons, design.effect)}
${aheadText(result.others, plan)}
<h3>Arms</h3>
<p class="small">${escape(design.metric)}; ${design.higherIsBetter ? 'higher' : 'lower'} is better.</p>
${armTracks(result, design.effect)}
${startText(result)}
<h3>Checks and controls</h3>
<ul class="checks">${result.checks
    .map(
      ({ kind, about, found, expected, passed }) =>
        `<li class="${passed ? 'passed' : 'failed'}"><b>${passed ? 'passed' : 'failed'}</b> ${kind}: ${escape(about)} <span class="small">${escape(found)}; expected: ${escape(expected)}</span></li>`,
    )
    .join('')}</ul>
${simplificationText(result)}
${recordText({ plan, result })}
</section>`
}

function effectHeading({ design: { effect, pairing } }: Plan): string {
  const counts = effect.scale === 'ratio' ? `a factor of ${effect.atLeast}` : `${effect.atLeast}`
  return `${escape(effect.better)} against each rival, ${pairing === 'seed' ? 'in pairs of the same seed' : 'not paired'}; what counts: ${counts}${effect.scale === 'ratio' ? ' (logarithmic scale)' : ''}.`
}

/** Arms that the claim does not name, in words. */
function aheadText(others: readonly Comparison[], { design: { effect } }: Plan): string {
  const words = others.map((other) => {
    const by = effectText(other, effect)
    const arm = `<b>${escape(other.than)}</b>`
    const claimed = escape(other.better)
    if (other.outcome === 'worse') return `${arm}, which the claim does not name, beats ${claimed}: ${by}`
    if (other.outcome === 'better') return `${claimed} also beats ${arm}: ${by}`
    if (other.outcome === 'equivalent') return `${arm} is equivalent to ${claimed}: ${by}`
    return `${arm} against ${claimed} is open: ${by}`
  })
  return words.map((text) => `<p class="small">${text}.</p>`).join('\n')
}

function startText({ arms }: PaperResult): string {
  const starts = Object.entries(arms).flatMap(([arm, { start }]) =>
    start === undefined ? [] : [`${escape(arm)} ${short(start)}`],
  )
  return starts.length === 0 ? '' : `<p class="small">Score before training: ${starts.join(', ')}.</p>`
}

function simplificationText({ simplifications }: PaperResult): string {
  if (simplifications.length === 0) return ''
  return `<h3>Simplifications</h3>
<ul class="small">${simplifications.map((text) => `<li>${escape(text)}</li>`).join('')}</ul>`
}

function recordText({ plan, result }: Shown): string {
  const { runs, seeds, again } = result
  const seconds = [...Object.values(runs.arms), ...(runs.again === undefined ? [] : [runs.again])].reduce(
    (sum, arm) => sum + arm.seconds,
    0,
  )
  return `<p class="small">Seeds ${seeds.from} to ${seeds.to} for each arm, ${again.from} to ${again.to} for the A/A control. Planned
${plan.date.slice(0, 10)}, run ${result.date.slice(0, 10)}, ${(seconds / 60).toFixed(1)} minutes of computing on ${escape(result.machine)}.
<code>${escape(result.command)}</code> <a href="plans/${escape(result.id)}.json">plan</a> <a href="results/${escape(result.id)}.json">result</a></p>`
}
