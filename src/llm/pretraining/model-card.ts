import { corpusStages } from './corpus/conversation.ts'
import type { CorpusStage } from './corpus/conversation.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { SkillScores } from './skill-evaluation.ts'

/** Cost and results of one stage of pretraining. */
export interface StageFacts {
  stage: CorpusStage
  tokens: number
  steps: number
  seconds: number
  /** Mean weighted cross-entropy of the last batch, in nats per token. */
  loss: number
}

export interface ModelCardFacts {
  name: string
  command: string
  seed: number
  config: TransformerConfig
  parameters: number
  /** In chronological order. */
  stages: readonly StageFacts[]
  /** For instance "2 cores of an Intel Xeon". */
  machine: string
  skills: SkillScores
  /** Evaluated conversations per skill. */
  skillCount: number
}

/** The model card of a base model in Markdown: what it is, its data, its cost and its quality. */
export function modelCard(facts: ModelCardFacts): string {
  const { config } = facts
  return `# ${facts.name}

A decoder-only transformer of ${(facts.parameters / 1e6).toFixed(2)}M parameters (Llama layout: ${config.num_hidden_layers} layers of ${config.hidden_size}, ${config.num_attention_heads} heads, vocabulary ${config.vocab_size}, byte-level BPE), made by Agoge from nothing but
generated text. It is a starting point for learning tools by reinforcement; it knows no facts and is no assistant.

## What it was made from

A generated corpus, a function of one seed: conversations over small simulated environments with invented tools, memorised or
described in the prompt, and exercises in copying, JSON, paths, lists and conditions. Names are ordinary English words and
invented ones. The corpus has no task, tool name or prompt template of the benchmarks that models are later trained and judged
on (\`src/llm/environment/filesystem/corpus-separation.slow.test.ts\`). Its skills by share of conversations:

${facts.stages.map(({ stage }) => `- ${stage}: ${skills(stage)}`).join('\n')}

## Cost

| | |
| --- | --- |
| Command | \`${facts.command}\` |
| Seed | ${facts.seed} |
| Machine | ${facts.machine} |

| Stage | Tokens, each conversation met once | Steps | Minutes | Tokens/s | Last loss, nats a token (own tokens weighted 1, others less) |
| --- | ---: | ---: | ---: | ---: | ---: |
${facts.stages.map(costs).join('\n')}

## Scores

Greedy decoding of ${facts.skillCount} conversations of each skill, made of words and invented words that never occur in training; right
means that every turn of the conversation is right, token for token.

| Skill | Exactly right |
| --- | --- |
${Object.entries(facts.skills)
  .map(([name, score]) => `| ${name} | ${(100 * score).toFixed(0)}% |`)
  .join('\n')}
`
}

function costs({ stage, tokens, steps, seconds, loss }: StageFacts): string {
  const [count, stepCount, speed] = [tokens, steps, Math.round(tokens / seconds)].map((n) =>
    n.toLocaleString('en'),
  )
  return `| ${stage} | ${count} | ${stepCount} | ${(seconds / 60).toFixed(1)} | ${speed} | ${loss.toFixed(3)} |`
}

function skills(stage: CorpusStage): string {
  const weights = Object.entries(corpusStages[stage]).filter(([, weight]) => weight > 0)
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0)
  return weights.map(([name, weight]) => `${name} ${((100 * weight) / total).toFixed(0)}%`).join(', ')
}
