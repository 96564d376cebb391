// Compares every operator on the device of AGOGE_DEVICE with its reference. Prints the greatest deviation of
// each as JSON.
import { compile, evaluateTensors } from '../index.ts'
import { input } from '../operators/constant.ts'
import { cases, randomFeeds } from './cases.ts'

const deviations: Record<string, number> = {}
for (const [name, { inputs, build }] of Object.entries(cases)) {
  const traced = Object.entries(inputs).map(([key, { shape, dtype }]) => [key, input(key, shape, dtype)])
  const reference = build(Object.fromEntries(traced))
  const program = await compile(inputs, (given) => ({ result: build(given) }), { name })
  const feeds = randomFeeds(inputs, { B: 3, T: 2, P: 4 }, 1)
  const { data: wanted } = evaluateTensors({ result: reference }, feeds).result
  const { data: found } = (await program.run(feeds)).result
  const errors = Array.from(found, (value, i) => Math.abs(value - wanted[i]) / (1 + Math.abs(wanted[i])))
  deviations[name] = found.length === wanted.length ? Math.max(0, ...errors) : Infinity
  await program.release()
}
console.log(JSON.stringify(deviations))
