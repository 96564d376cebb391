import { type Estimate, intervalText, type MeanEstimate } from '../../statistics/statistics.ts'

/** A share in [0, 1] in whole per cent, with one decimal below 10% if it matters. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return '–'
  const value = share * 100
  const fine = Math.abs(value) < 10 && Math.abs(value - Math.round(value)) >= 0.05
  return `${value.toFixed(fine ? 1 : 0)}%`
}

/** A share with its 95% interval: `93% (90–95)`. */
export function percentInterval({ mean, low, high, n }: Estimate): string {
  if (n === 0) return '–'
  return `${percent(mean)} (${Math.round(low * 100)}–${Math.round(high * 100)})`
}

/** A difference of shares in percentage points with its interval: `+31 points (24 to 38)`. */
export function pointsInterval(difference: MeanEstimate): string {
  const points = (x: number) => (x * 100).toFixed(1)
  const { mean } = difference
  return `${mean >= 0 ? '+' : ''}${points(mean)} points (${intervalText(difference, points)})`
}

/** A duration in readable form: `0.4 s`, `52 s`, `4 min 12 s`, `2 h 05 min`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

/** A count with at most three significant digits: `812`, `14.2k`, `1.31M`. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size >= 999_500) return `${threeDigits(value / 1e6)}M`
  if (size >= 9_999.5) return `${threeDigits(value / 1e3)}k`
  return Number.isInteger(value) || size >= 100 ? value.toFixed(0) : threeDigits(value)
}

/** A number with three significant digits, in scientific notation only if it is tiny. */
export function decimal(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (value === 0) return '0'
  return Math.abs(value) < 0.001 ? value.toExponential(1) : threeDigits(value)
}

function threeDigits(value: number): string {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 1e-9))))
  const text = value.toFixed(Math.min(digits, 6))
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
