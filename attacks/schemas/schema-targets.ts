import { createRandom } from '../../src/engine/random/index.ts'
import { AgogeError } from '../../src/error.ts'
import { toolSignatures } from '../../src/llm/agent/chat-format/tool-signatures.ts'
import { createKnowledge } from '../../src/llm/environment/mcp/arguments/knowledge.ts'
import { sampleArguments } from '../../src/llm/environment/mcp/arguments/sample-arguments.ts'
import { wordsOf } from '../../src/llm/environment/mcp/arguments/words.ts'
import type { Grammar } from '../../src/llm/grammar/compile.ts'
import { createGrammarCompiler } from '../../src/llm/grammar/compiler.ts'
import { createGrammars, packTexts } from '../../src/llm/grammar/cursor.ts'
import type { GrammarCursor } from '../../src/llm/grammar/cursor.ts'
import { readChatRequest } from '../../src/llm/serving/openai/chat-request.ts'
import { bodyLimits, createJsonReader } from '../../src/llm/serving/json-body.ts'
import { toolsPage } from '../../src/llm/tool/mcp-results.ts'
import { noSecrets, redacted } from '../../src/untrusted/untrusted.ts'
import { deepestJson } from '../../src/untrusted/foreign-json.ts'
import { validateArguments } from '../../src/untrusted/validate.ts'
import type { Targets, Throw } from './bomb.ts'

type Schema = Readonly<Record<string, unknown>>

/** Draws of arguments from one schema. A task draws some dozens. */
const draws = 8
/** Tokens that are sampled by one grammar. */
const tokens = 60

/** Bytes of a body that arrive at once. */
const arriving = 2 ** 16

/** A vocabulary of single bytes. */
const vocabulary = packTexts(Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)))

/** What a function gives that a bomb does not come to, because the schema was refused before. */
export const notReached = 'not reached'

/**
 * Everything that is done with the input schema of a foreign tool, in its order, and with the schema of a request.
 *
 * @param value arguments that are checked against it.
 */
export function schemaTargets(schema: Schema, value: Readonly<Record<string, unknown>> = {}): Targets {
  const tool = { name: 'bomb', description: 'Does something.', inputSchema: schema }
  const body = isNestedDeeper(schema, deepestJson)
    ? undefined
    : Buffer.from(
        JSON.stringify({
          messages: [{ role: 'user', content: 'go' }],
          response_format: { type: 'json_schema', json_schema: { name: 'bomb', schema } },
        }),
      )
  let isUsable = false
  let compiled: Grammar | undefined
  const ifUsable =
    (work: Throw): Throw =>
    () =>
      isUsable ? work() : notReached
  return {
    'tools/list': () => {
      const page = toolsPage['~standard'].validate({ tools: [tool] })
      if (page instanceof Promise || page.issues !== undefined) return 'no page'
      const { specs, unusable } = redacted(page.value.tools, noSecrets)
      isUsable = specs.length === 1
      return isUsable ? 'usable' : `left out: ${unusable[0].reason}`
    },
    validation: ifUsable(() => validateArguments(schema, value) ?? 'valid'),
    arguments: ifUsable(() => drawArguments(schema)),
    prompt: ifUsable(() => `${toolSignatures([tool], (text) => text.length < 2000).length} characters`),
    'grammar of a request': async () => {
      compiled = body === undefined ? undefined : await compileInThread(body)
      return compiled === undefined ? 'nested too deep for a request' : 'compiled'
    },
    'sampling by it': {
      slow: () => (compiled === undefined ? notReached : walk(createGrammars(vocabulary).start(compiled))),
    },
    'sampling of calls': { slow: ifUsable(() => walk(createGrammars(vocabulary).start({ schema }))) },
  }
}

function drawArguments(schema: Schema): string {
  createKnowledge({ tools: [{ name: 'bomb', description: 'Does something.', inputSchema: schema }] })
  const words = wordsOf('train')
  for (let seed = 0; seed < draws; seed++)
    sampleArguments(schema, { random: createRandom(seed), words, known: [], reuse: false })
  return `${draws} drawn`
}

/** As an endpoint does with the `response_format` of a request. */
async function compileInThread(body: Buffer): Promise<Grammar | undefined> {
  const reader = createJsonReader(bodyLimits, (problem) => {
    throw new AgogeError(`the body ${problem}`, { code: 'bad-argument' })
  })
  for (let at = 0; at < body.length; at += arriving) reader.push(body.subarray(at, at + arriving))
  const { grammar } = readChatRequest(redacted(await reader.end(), noSecrets) as Record<string, unknown>)
  if (grammar === undefined) return undefined
  const compiler = createGrammarCompiler(vocabulary)
  try {
    return await compiler.compile(grammar, new AbortController().signal)
  } finally {
    await compiler.dispose()
  }
}

/** Without recursion, as the bombs would break it. */
function isNestedDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}

/** Samples by a grammar, a token drawn at random from those allowed. */
function walk(cursor: GrammarCursor): string {
  const random = createRandom('grammar')
  let count = 0
  for (; count < tokens && !cursor.complete; count++) {
    const mask = cursor.mask(1000)
    const allowed = Array.from({ length: 256 }, (_, id) => id).filter(
      (id) => (mask[id >> 5] >>> (id & 31)) & 1,
    )
    if (allowed.length === 0) break
    cursor.advance(random.pick(allowed))
  }
  return `${count} tokens`
}
