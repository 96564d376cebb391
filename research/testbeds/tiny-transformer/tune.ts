// Learning rates of the arms of a paper, each from the same grid, on seeds that results never use:
//   node --import tsx --conditions agoge-source research/testbeds/tiny-transformer/tune.ts FILE [--rates 1e-4,3e-4,1e-3] [--seeds 6]
// FILE exports `experiment`, a `TinyExperiment`.
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { average } from 'agoge/statistics'
import type { TinyExperiment } from './testbed.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rates: { type: 'string', default: '1e-4,3e-4,6e-4,1e-3' },
    seeds: { type: 'string', default: '6' },
  },
})

const { experiment } = (await import(pathToFileURL(positionals[0]).href)) as { experiment: TinyExperiment }
const rates = values.rates.split(',').map(Number)
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => 101 + i)
const gains = new Map<string, number[]>()
// Seed by seed, so that the arms share the start.
for (const seed of seeds)
  for (const [name, arm] of Object.entries(experiment.arms))
    for (const rate of rates) {
      const { gain } = await experiment.testbed(seed, (run) => arm(run, rate))
      const key = `${name} ${rate}`
      gains.set(key, [...(gains.get(key) ?? []), gain])
    }
for (const name of Object.keys(experiment.arms)) {
  const means = rates.map((rate) => average(gains.get(`${name} ${rate}`) ?? []))
  const best = means.indexOf(Math.max(...means))
  const inside = best > 0 && best < rates.length - 1
  const list = rates.map((rate, i) => `${rate}: ${means[i].toFixed(1)}`).join(', ')
  console.log(`${name}: ${list}; best ${rates[best]}${inside ? '' : ', at the edge of the grid'}`)
}
