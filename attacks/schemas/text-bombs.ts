import { parseExactCall, parseCalls } from '../../src/llm/agent/parse-calls.ts'
import { readTemplateOutput, visibleText } from '../../src/llm/agent/chat-format/template-output.ts'
import { readCompletion } from '../../src/llm/agent/chat-completions.ts'
import { correctionsOf, saysFailure } from '../../src/llm/environment/mcp/arguments/error-hints.ts'
import { hintsOfDescription } from '../../src/llm/environment/mcp/arguments/hints.ts'
import { recordsOf } from '../../src/llm/environment/mcp/arguments/text-records.ts'
import { tablesIn } from '../../src/llm/environment/mcp/arguments/sql-tables.ts'
import { chooseSalient, compactResult, otherValues } from '../../src/llm/environment/mcp/salient.ts'
import { createRandom } from '../../src/engine/random/index.ts'
import { redactorOf } from '../../src/llm/tool/redact.ts'
import { createSplitter } from '../../src/llm/tokenizer/tokenizer-layout.ts'
import { jsonPart } from '../../src/untrusted/json-in-text.ts'
import { bomb } from './bomb.ts'
import type { Bomb, Targets } from './bomb.ts'

/** What a model says, with its calls. */
const outputTargets = (text: string): Targets => ({
  'calls in text': () => said(parseCalls(text, { repair: true })),
  'exact call': () => said(parseExactCall(text)),
  'template output': () =>
    said(
      readTemplateOutput(text, {
        before: '<tool_call>\n{"name": "',
        between: '", "arguments": ',
        after: '}',
      }),
    ),
  'llama output': () => said(readTemplateOutput(text, { before: '{"name": "', between: '', after: '}' })),
  'visible text': () => said(visibleText(text, { before: '<tool_call>', between: '', after: '' }, false)),
  completion: () =>
    said(
      readCompletion({
        choices: [{ message: { content: text, tool_calls: [{ function: { name: 'f', arguments: text } }] } }],
      }),
    ),
})

/** What a tool returns. */
const resultTargets = (text: string): Targets => ({
  'compact result': () => `${compactResult(text).length} characters`,
  'JSON in text': () => said(jsonPart(text)),
  records: () => `${recordsOf(text, { path: 'a' }).length} records`,
  tables: () => `${tablesIn(recordsOf(text, { table: 'a' })).length} tables`,
  failure: () => String(saysFailure(text, { a: 'b' })),
  corrections: () => `${correctionsOf(text, { a: 'b', unit: 1 }, ['a', 'unit', 'filters.city']).size} hints`,
  description: () => said(hintsOfDescription(text)),
  'what to ask for': () => said(chooseSalient(compactResult(text), 'request', createRandom(0))),
  'other values': () => `${otherValues(compactResult(text), 'a').length} values`,
  redaction: () => `${redactorOf(['sk-live-42aaaaaa', 'a b']).data({ text }).text.length} characters`,
})

const said = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 60)

const output = (name: string, make: () => string): Bomb => bomb(`model output: ${name}`, make, outputTargets)
const result = (name: string, make: () => string): Bomb => bomb(`tool result: ${name}`, make, resultTargets)

/** Patterns of a foreign tokenizer.json, by which every text is split. */
const splitter = (name: string, pattern: string, text: () => string): Bomb =>
  bomb(`tokenizer pattern: ${name}`, text, (given) => ({
    split: () => `${createSplitter(pattern)(given).length} pieces`,
  }))

const many = (part: string, count = 30_000): string => part.repeat(count)

export const textBombs: readonly Bomb[] = [
  output(
    'a call nested 50,000 deep',
    () => `{"name": "f", "arguments": {"a": ${many('[', 50_000)}${many(']', 50_000)}}}`,
  ),
  output('tags that never close', () => many('<tool_call>')),
  output('tags around nothing', () => many('<tool_call></tool_call>')),
  output('fences that never close', () => many('```json\n')),
  output('fences and blanks', () => `\`\`\`${many(' ')}\`\`\`${many(' \n')}`),
  output('quotes that never close', () => `<tool_call>{"name": '${many('"')}`),
  output('brackets that never close', () => `<tool_call>${many('{"a":[')}`),
  output(
    'words of the language',
    () => `<tool_call>{name: f, arguments: {a: ${many('toString constructor __proto__ ')}}}`,
  ),
  output('numbers', () => `<tool_call>{"name": "f", "arguments": {"a": ${many('1e')}}}`),
  output('names and colons', () => `{${many('"name" ')}: ${many('"arguments" ')}:`),
  output('thoughts', () => `${many('<think>')}${many('</think>')}`),
  output('blanks', () => `<tool_call>${many(' \n')}`),
  result('blanks between two words', () => `x${many(' ', 200_000)}x`),
  result('line breaks and blanks', () => `x${many(' \n\t')}x`),
  result('a line of dashes', () => `a\n${many('-', 20_000)}x\nb`),
  result('a line of table signs', () => `a|b\n${many('|-:', 10_000)}x\nb`),
  result('a line of slashes', () => `${many('/', 50_000)}!`),
  result('a list of blanks', () => `- a${many(' ', 50_000)}b\n- [x] c${many(' ', 50_000)}b`),
  result('a fence and line breaks', () => `\`\`\`${many('\n', 50_000)}x`),
  result('fences', () => many('```\n')),
  result('JSON nested 50,000 deep', () => `${many('[', 50_000)}${many(']', 50_000)}`),
  result('objects nested 50,000 deep', () => `Found:\n${many('{"a":', 50_000)}1${many('}', 50_000)}`),
  result('an issue nested deep', () => `Error: [${many('{"errors":[', 1000)}${many(']}', 1000)}]`),
  result('quotes', () => `must be one of ${many('"')}${many("'")}${many('`')}`),
  result('choices', () => `Error: a must be one of ${many('a, b or ')} expected one of ${many('(a|b)')}`),
  result('commas', () => `CREATE TABLE t (${many('a INT, (')}`),
  result('marks', () => many('[a=b]')),
  result('elements of a page', () => many('- button "a\\\\" [ref=e1] [')),
  result('a JSON text that was cut', () => `{"a":[${many('{"b":1,')}…`),
  result('secrets across lines', () => many('c2stbGl2\n')),
  result('JSON and line breaks after it', () => `{"a":1}${many('\n', 200_000)}{`),
  splitter('(a+)+', '(?:a+)+b', () => many('a')),
  splitter('alternatives that overlap', '(?:a|aa|\\p{L})+(?=b)', () => many('a')),
  splitter('blanks', '\\s+(?!\\S)|\\s+x', () => many(' ')),
  splitter('four stars in a row', '\\s*\\s*\\s*\\s*x|\\S', () => many(' ')),
  splitter('looking to the end from each place', 'a*b|a', () => many('a')),
]
