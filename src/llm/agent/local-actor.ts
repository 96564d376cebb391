import { defined } from '../../defined.ts'
import type { EpisodeNode } from '../episode/types.ts'
import type { ModelBackend } from '../model-backend.ts'
import type { Grammar } from '../grammar/compile.ts'
import { encodeMessage } from '../tokenizer/template.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import { createSmallFormat, readSmallOutput } from './chat-format/small-format.ts'
import type { ToolSpec } from '../tool/tool.ts'
import type { Act, Actor } from './types.ts'

export interface LocalActorOptions {
  backend: Pick<ModelBackend, 'sample'>
  tokenizer: Tokenizer
  /** 0 is greedy. */
  sampling: { temperature: number }
  /** Determines every draw, together with episode, turn and token index. */
  seed: number
  maxTokensPerTurn: number
  /**
   * Whether a grammar constrains calls to the offered tools, with arguments of their schema, complete within `maxTokensPerTurn`.
   * Text around calls stays free. Default: off, so that the policy learns the syntax. The log-probabilities of an act are those
   * of the unconstrained distribution, as a trainer computes them (`SampleOutput.logprobs`).
   */
  constrained?: boolean
}

/**
 * A policy in this process, for Agoge's own models. Its prompt is the concatenated tokens of the nodes, followed by a forced
 * `<|assistant|>`. Keeps sampled tokens verbatim and never re-encodes them.
 *
 * @throws AgogeError `unknown-special-token` if the tokenizer is not that of one of Agoge's own models.
 * @example
 * const { backend, tokenizer } = await loadModel()
 * const actor = createLocalActor({ backend, tokenizer, sampling: { temperature: 0 }, seed: 0, maxTokensPerTurn: 64 })
 */
export function createLocalActor(options: LocalActorOptions): Actor {
  const { backend, tokenizer, sampling, seed, maxTokensPerTurn, constrained = false } = options
  const assistant = tokenizer.special('<|assistant|>')
  const end = tokenizer.special('<|end|>')
  const format = createSmallFormat(tokenizer)

  const grammars = new Map<readonly ToolSpec[], Grammar>()
  /** A grammar of text and any number of calls. The same tools return the same object. */
  function grammarFor(tools: readonly ToolSpec[]): Grammar | undefined {
    const call = constrained ? format.callGrammar(tools) : undefined
    if (call === undefined) return undefined
    const grammar = grammars.get(tools) ?? { sequence: [{ regex: '[^]*' }, { repeat: call }] }
    // Tools stay the same for many turns, but not forever.
    if (grammars.size > 64) grammars.clear()
    grammars.set(tools, grammar)
    return grammar
  }

  return {
    name: 'local',
    sampling: { temperature: sampling.temperature },
    encode: (node) => encodeMessage(tokenizer, { role: node.role, text: node.text }).tokens,
    async act(requests, { signal }) {
      const prompts = requests.map((request) => window(request.nodes, assistant))
      const outputs = await backend.sample(
        requests.map((request, i) => {
          const grammar = grammarFor(request.tools)
          const key = `${request.episode}:${request.turn}`
          return { prompt: prompts[i], key, ...defined({ grammar }) }
        }),
        {
          maxTokens: maxTokensPerTurn,
          stop: [end],
          temperature: sampling.temperature,
          seed,
          ...defined({ signal }),
        },
      )
      return outputs.map((output, i): Act => {
        const length = output.tokens.length + 1
        const tokens = new Int32Array(length)
        tokens[0] = assistant
        tokens.set(output.tokens, 1)
        const logprobs = new Float32Array(length)
        logprobs.set(output.logprobs, 1)
        const { text, calls, invalid } = readSmallOutput(output.tokens, tokenizer)
        return {
          text,
          calls: calls.map((call, k) => ({ id: `${requests[i].turn}.${k}`, ...call })),
          ...defined({ invalid }),
          finish: output.finish,
          tokens,
          logprobs,
          mask: new Uint8Array(length).fill(1, 1),
          weightVersion: output.weightVersion,
          promptTokens: prompts[i].length,
        }
      })
    },
  }
}

function window(nodes: readonly EpisodeNode[], assistant: number): Int32Array {
  const length = nodes.reduce((sum, node) => sum + node.tokens.length, 1)
  const tokens = new Int32Array(length)
  let at = 0
  for (const node of nodes) {
    tokens.set(node.tokens, at)
    at += node.tokens.length
  }
  tokens[at] = assistant
  return tokens
}
