// npm run bench -- NAME [--json]: measures ours and, where AGOGE_PEERS_PYTHON names a Python that has it, the peer.
import type { Measurement } from './alternate.ts'
import { mainJobMemory } from './main-job-memory.ts'
import { sampling } from './sampling.ts'
import { trainStep } from './train-step.ts'

const benchmarks: Record<string, () => Promise<Measurement>> = {
  'train-step': trainStep,
  sampling,
  'main-job-memory': mainJobMemory,
}

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const unknown = names.filter((name) => !(name in benchmarks))
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}`)
  process.exit(1)
}
for (const name of names.length > 0 ? names : Object.keys(benchmarks)) {
  const line = await benchmarks[name]()
  if (process.argv.includes('--json')) console.log(JSON.stringify(line))
  else
    console.log(
      `${line.name}: ours ${line.ours.toPrecision(4)} ${line.unit}, peer ${line.peer?.toPrecision(4) ?? '-'}, ratio ${line.ratio?.toFixed(2) ?? '-'}`,
    )
}
process.exit(0)
