import { intervalText } from 'agoge/statistics'
import type { PaperResult } from './paper.ts'

/** One self-contained page with the claim, the verdict and the scores of every paper that has a result. */
export function renderGallery(results: readonly PaperResult[]): string {
  const counts = ['reproduced', 'not reproduced', 'inconclusive'].map(
    (verdict) => `${results.filter((result) => result.verdict === verdict).length} ${verdict}`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agoge: papers</title>
<style>${style}</style>
</head>
<body>
<h1>Papers</h1>
<p>${results.length} experiments: ${counts.join(', ')}. Every dot is a run with a seed of its own; the bar is the interquartile
mean with its 95% bootstrap interval.</p>
${results.map(section).join('\n')}
</body>
</html>
`
}

function section(result: PaperResult): string {
  const { better } = result.comparisons[0] ?? { better: '' }
  const total = Object.values(result.seconds).reduce((sum, seconds) => sum + seconds, 0)
  return `<section id="${escape(result.id)}">
<h2>${escape(result.title)} <span class="${result.verdict.replace(' ', '-')}">${result.verdict}</span></h2>
<p>${escape(result.claim)}</p>
${plot(result)}
<p class="small">${escape(result.metric)}, ${result.higherIsBetter ? 'higher' : 'lower'} is better. ${result.comparisons
    .map(
      ({ than, improvement }) =>
        `P(${escape(better)} beats ${escape(than)}) = ${improvement.mean.toFixed(2)} (${intervalText(improvement, (value) => value.toFixed(2))})`,
    )
    .join('; ')}.</p>
${result.simplifications.map((text) => `<p class="small">Stand-in: ${escape(text)}.</p>`).join('\n')}
<p class="small"><code>${escape(result.command)}</code>, ${result.date}, ${escape(result.machine)}, ${(total / 60).toFixed(1)} minutes of computing.</p>
</section>`
}

function plot({ scores, arms }: PaperResult): string {
  const all = Object.values(scores).flat()
  const low = Math.min(...all)
  const span = Math.max(...all) - low || 1
  const x = (value: number): string => (190 + (480 * (value - low)) / span).toFixed(1)
  const rows = Object.entries(scores).map(([arm, runs], i) => {
    const y = 20 + i * 28
    const estimate = arms[arm]
    return `<text x="180" y="${y + 4}" text-anchor="end">${escape(arm)}</text>
${estimate.low === null ? '' : `<line x1="${x(estimate.low)}" x2="${x(estimate.high)}" y1="${y}" y2="${y}" class="interval"/>`}
<line x1="${x(estimate.mean)}" x2="${x(estimate.mean)}" y1="${y - 8}" y2="${y + 8}" class="mean"/>
${runs.map((score) => `<circle cx="${x(score)}" cy="${y}" r="3"/>`).join('')}
<text x="690" y="${y + 4}">${number(estimate.mean)} (${intervalText(estimate, number)})</text>`
  })
  return `<svg viewBox="0 0 860 ${16 + rows.length * 28}" role="img">${rows.join('\n')}</svg>`
}

const number = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 1 ? value.toFixed(2) : value.toFixed(3)

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const style = `
:root { color-scheme: light dark; --ink: #1d2733; --soft: #667; --line: #2a6fdb; --dot: #2a6fdb66; --page: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa; --line: #7fb0ff; --dot: #7fb0ff77; --page: #14181d } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 880px; margin: 2rem auto; padding: 0 1rem }
h2 { font-size: 1.1rem; margin: 2rem 0 0.3rem } h2 span { font-size: 0.75rem; padding: 0.1rem 0.5rem; border-radius: 1rem; color: #fff }
.reproduced { background: #1a7f45 } .not-reproduced { background: #b3362b } .inconclusive { background: #8a6d1a }
svg { width: 100% } svg text { font-size: 12px; fill: var(--ink) } circle { fill: var(--dot) }
.interval { stroke: var(--line); stroke-width: 6; stroke-opacity: 0.35 } .mean { stroke: var(--line); stroke-width: 2 }
.small { font-size: 0.85rem; color: var(--soft); margin: 0.2rem 0 }
`
