interface Panel {
  title: string
  x: string
  curves: { name: string; points: { x: number; y: number }[] }[]
}

const [width, height] = [330, 250]
const [left, top, right, bottom] = [52, 34, 10, 40]
const colours = ['#2563eb', '#d97706']

/** Panels side by side as SVG, with logarithmic axes. */
export function logPlot(y: string, panels: readonly Panel[]): string {
  const drawn = panels.map((panel, i) => `<g transform="translate(${i * width} 0)">${draw(panel, y)}</g>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width * panels.length} ${height}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>
${drawn.join('\n')}
</svg>
`
}

function draw({ title, x, curves }: Panel, y: string): string {
  const points = curves.flatMap((curve) => curve.points)
  const across = axis(
    points.map((point) => point.x),
    left,
    width - right,
  )
  const up = axis(
    points.map((point) => point.y),
    height - bottom,
    top,
  )
  const lines = curves.map(({ name, points: own }, i) => {
    const places = own.map((point) => `${across.at(point.x)},${up.at(point.y)}`)
    const dots = places.map(
      (place) => `<circle cx="${place.replace(',', '" cy="')}" r="3" fill="${colours[i]}"/>`,
    )
    return `<polyline points="${places.join(' ')}" fill="none" stroke="${colours[i]}" stroke-width="2"/>${dots.join('')}
<text x="${left + 8}" y="${top + 14 + 14 * i}" fill="${colours[i]}">${name}</text>`
  })
  const ticks = [
    ...across.ticks.map(
      (value) =>
        `<line x1="${across.at(value)}" x2="${across.at(value)}" y1="${top}" y2="${height - bottom}" stroke="#ddd"/><text x="${across.at(value)}" y="${height - bottom + 14}" text-anchor="middle">${short(value)}</text>`,
    ),
    ...up.ticks.map(
      (value) =>
        `<line x1="${left}" x2="${width - right}" y1="${up.at(value)}" y2="${up.at(value)}" stroke="#ddd"/><text x="${left - 5}" y="${Number(up.at(value)) + 4}" text-anchor="end">${short(value)}</text>`,
    ),
  ]
  return `${ticks.join('\n')}
${lines.join('\n')}
<text x="${(left + width) / 2}" y="18" text-anchor="middle" font-weight="bold">${title}</text>
<text x="${(left + width) / 2}" y="${height - 8}" text-anchor="middle">${x}</text>
<text transform="translate(12 ${(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">${y}</text>`
}

/** Maps values to pixels, and returns round values (1, 2, 5 times a power of ten) to mark. */
function axis(values: number[], from: number, to: number) {
  const [low, high] = [Math.log10(Math.min(...values) / 1.2), Math.log10(Math.max(...values) * 1.2)]
  const at = (value: number): string =>
    (from + ((Math.log10(value) - low) / (high - low)) * (to - from)).toFixed(1)
  const decades = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i)
  const steps = high - low > 2.2 ? [1] : [1, 2, 5]
  const ticks = decades
    .flatMap((decade) => steps.map((step) => step * 10 ** decade))
    .filter((value) => Math.log10(value) >= low && Math.log10(value) <= high)
  return { at, ticks }
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`
  return value >= 1e4 ? `${value / 1e3}k` : String(Number(value.toPrecision(3)))
}
