import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { otlpRequest, spanId, traceId } from './fixtures/documented-forms.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-large-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const traces = 6000
const filler = 'All work and no play makes an agent dull. '.repeat(400)

/** The spans of all traces, call by call, so that those of a trace lie far apart. */
function* spans() {
  for (let call = 0; call < 3; call += 1)
    for (let trace = 0; trace < traces; trace += 1) {
      const messages = Array.from({ length: 2 * call + 1 }, (_, at) => ({
        role: at % 2 === 0 ? 'user' : 'assistant',
        parts: [{ type: 'text', content: `${trace} ${at} ${at === 0 ? filler : ''}` }],
      }))
      const answer = [{ role: 'assistant', parts: [{ type: 'text', content: `${trace} ${2 * call + 1} ` }] }]
      yield {
        traceId: traceId(trace + 1),
        spanId: spanId(call * traces + trace + 1),
        start: call * 1000,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.input.messages': JSON.stringify(messages),
          'gen_ai.output.messages': JSON.stringify(answer),
        },
      }
    }
}

function writtenLines(): string {
  const path = join(folder, 'lines.jsonl')
  const file = openSync(path, 'w')
  for (const span of spans()) writeSync(file, `${JSON.stringify(otlpRequest([span]))}\n`)
  closeSync(file)
  return path
}

/** One document, of which the spans stand in one list. */
function writtenDocument(): string {
  const path = join(folder, 'document.json')
  const file = openSync(path, 'w')
  writeSync(file, '{"resourceSpans": [{"scopeSpans": [{"spans": [\n')
  let isFirst = true
  for (const span of spans()) {
    const { resourceSpans } = otlpRequest([span]) as {
      resourceSpans: { scopeSpans: { spans: object[] }[] }[]
    }
    writeSync(file, `${isFirst ? '' : ',\n'}${JSON.stringify(resourceSpans[0].scopeSpans[0].spans[0])}`)
    isFirst = false
  }
  writeSync(file, ']}]}]}\n')
  closeSync(file)
  return path
}

// The peak of the memory is read from /proc.
test.runIf(process.platform === 'linux').each([
  ['lines', writtenLines],
  ['one document', writtenDocument],
])(
  'a large file of %s is imported in a heap that could not hold it',
  (_, write) => {
    const file = write()
    expect(statSync(file).size).toBeGreaterThan(3e8)
    const script = `
    import { readFileSync } from 'node:fs'
    import { importTraces } from 'agoge'
    const { episodes, calls } = await importTraces([process.argv[1]], { out: process.argv[2] })
    // Not resourceUsage().maxRSS: it counts what the process that started this one had at that moment.
    const [, kilobytes] = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))
    console.log(JSON.stringify({ episodes, calls, megabytes: kilobytes / 1000 }))`
    const words = [
      '--max-old-space-size=160',
      '--input-type=module',
      '-e',
      script,
      file,
      join(folder, 'out.jsonl'),
    ]
    const { megabytes, ...summary } = JSON.parse(
      execFileSync(process.execPath, words, { encoding: 'utf8' }),
    ) as {
      megabytes: number
    }
    expect(summary).toEqual({ episodes: traces, calls: 3 * traces })
    expect(megabytes).toBeLessThan(400)
  },
  300_000,
)
