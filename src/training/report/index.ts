export { stageTitles } from './family-chart.ts'
export { count, decimal, duration, percent, percentInterval, pointsInterval } from './format.ts'
export { headline } from './headline.ts'
export { renderReport } from './render-report.ts'
