import { AgogeError } from '../../../error.ts'
import { sha256 } from '../../../runs/checksums.ts'
import type { CallOptions, LanguageModel } from '../../agent/ai-sdk/read-call.ts'
import { createAsker, type Speaker } from '../../reward/ask-judge.ts'
import type { Unscored } from '../../episode/score.ts'
import { isOverflow } from '../../rollout/agents/rollout-agent.ts'
import { InfrastructureError } from '../../tool/tool.ts'
import { type Budget, BudgetReached, type Spending } from '../budget.ts'
import { type AgogeConfig, type JudgeSettings, scorersOf, type ScoringContext } from '../config.ts'
import type { Journal } from '../journal.ts'
import { type CallLimits, meterModel } from '../metered-model.ts'
import { openFurther, type OpenedModel } from '../models.ts'
import { judgementKey, type Judgements } from './judgements.ts'
import type { OpenedScorer } from './score-trials.ts'

/** A judge of an evaluation: which scorer it is, and which model. */
export interface Judge {
  scorer: string
  model: string
  /** Hash of the model's name, its settings and its questions: what was compared with labels. */
  id: string
  passAt: number
}

/** The scorers of a config, with the models that judge. */
export interface OpenedJudges {
  judges: Judge[]
  /** The scorers, ready to be asked. */
  scorers: (asking: Asking) => OpenedScorer[]
  /** What each judge did in this evaluation. */
  usage: (journal: Journal) => (Judge & { calls: number; spent: Spending })[]
  dispose: () => Promise<void>
}

/** What the calls of judges share with those of agents. */
export interface Asking {
  journal: Journal
  budget: Budget
  limits: CallLimits
  judgements: Judgements
  models: readonly string[]
  folder: string
  signal: AbortSignal
  /** Hides what must not be stored. */
  redact: (text: string) => string
}

/**
 * Opens the judges of a config. Their models are found as those of `models` are.
 *
 * @throws AgogeError as `openModels` does.
 */
export async function openJudges(
  config: AgogeConfig,
  folder: string,
  models: readonly OpenedModel[],
): Promise<OpenedJudges> {
  const scorers = Object.entries(scorersOf(config))
  const references = scorers.flatMap(([, { judge }]) => (judge === undefined ? [] : [judge.model]))
  const { of, opened } = await openFurther(references, config, folder, models)
  const judges = scorers.flatMap(([scorer, { judge, passAt = 1 }]): Judge[] =>
    judge === undefined ? [] : [{ scorer, ...identify(judge, of(judge.model).name), passAt }],
  )
  return {
    judges,
    scorers(asking) {
      const { models: names, folder: root, signal } = asking
      // Scorers that ask the same share their answers.
      const asks = new Map<string, ScoringContext['ask']>()
      const askOf = (name: string, settings: JudgeSettings | undefined): ScoringContext['ask'] => {
        const judge = judges.find(({ scorer }) => scorer === name)
        if (judge === undefined || settings === undefined) return noJudge(name)
        const ask = asks.get(judge.id) ?? askerOf(judge, settings, of(settings.model), asking)
        asks.set(judge.id, ask)
        return ask
      }
      return scorers.map(([name, scorer]) => ({
        name,
        scorer,
        context: { signal, models: names, folder: root, ask: askOf(name, scorer.judge) },
      }))
    },
    usage: (journal) =>
      judges.map((judge) => {
        const { calls, ...spent } = journal.costOf(ownerOf(judge))
        return { ...judge, calls, spent }
      }),
    async dispose() {
      for (const { dispose } of opened) await dispose()
    },
  }
}

/** Raised when the questions of `judge-prompts.ts` change: other questions are another judge. */
const promptVersion = 1

function identify(
  { attempts, temperature, maxOutputTokens, about }: JudgeSettings,
  model: string,
): Pick<Judge, 'model' | 'id'> {
  const settings = { attempts, temperature, maxOutputTokens }
  return { model, id: sha256(JSON.stringify([promptVersion, model, settings, about])).slice(0, 16) }
}

/** Under what the journal keeps the calls of a judge. Judges of the same id ask the same. */
const ownerOf = ({ id }: Judge): string => `judge ${id}`

function noJudge(name: string): ScoringContext['ask'] {
  return () =>
    Promise.reject(
      new AgogeError(`the scorer ${name} asks a judge and has none`, {
        code: 'bad-config',
        given: 'a scorer without `judge`',
        expected: "rubric('…', { judge: 'openai/gpt-5-mini' })",
      }),
    )
}

/**
 * Asks through the meter, so that calls are reserved in the budget, tried again, and kept. A question that was answered is not asked again:
 * in this process, in an earlier one of this evaluation (the journal), and in other evaluations (the judgements).
 */
function askerOf(
  judge: Judge,
  settings: JudgeSettings,
  model: OpenedModel,
  asking: Asking,
): ScoringContext['ask'] {
  const { journal, budget, limits, judgements, signal, redact } = asking
  const { attempts, temperature, maxOutputTokens } = settings
  const metered = meterModel(model, {
    trial: ownerOf(judge),
    journal,
    budget,
    limits,
    signal,
    onCall: () => {},
    onCost: () => {},
    onFault: () => {},
  })
  const asker = createAsker(speakerOf(metered, { temperature, maxOutputTokens }, redact), attempts)
  const asked = new Map<string, Promise<string | Unscored>>()
  return async (question, read) => {
    const key = judgementKey({ model: model.name, temperature, maxOutputTokens }, question)
    // A model of this machine may have been trained further under its name, and asking it costs nothing.
    const known = model.isLocal ? undefined : judgements.get(key)
    const found = known === undefined ? null : read(known)
    if (found !== null) return found
    const under =
      asked.get(key) ?? asker.ask(question, key, (answer) => (read(answer) === null ? null : answer), signal)
    asked.set(key, under)
    try {
      const answer = await under
      if (typeof answer !== 'string') return answer
      if (!model.isLocal) judgements.put(key, answer)
      return read(answer) ?? { value: null, reason: 'the answer of the judge could not be read' }
    } catch (error) {
      // Of everyone who waited for it. The next one asks again.
      asked.delete(key)
      throw error
    }
  }
}

function speakerOf(
  model: LanguageModel,
  settings: Pick<CallOptions, 'temperature' | 'maxOutputTokens'>,
  redact: (text: string) => string,
): Speaker {
  return async (text, _, signal) => {
    try {
      const prompt = [{ role: 'user' as const, content: [{ type: 'text', text }] }]
      const { content } = await model.doGenerate({ prompt, ...settings })
      return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    } catch (error) {
      signal.throwIfAborted()
      const isFault = !(error instanceof BudgetReached || AgogeError.isInstance(error))
      if (!isFault && !isOverflow(error)) throw error
      // All attempts of the meter have failed, or the question is too long for the model.
      const reason = error instanceof Error ? error.message : String(error)
      throw new InfrastructureError(redact(`the judge failed: ${reason}`), { cause: error })
    }
  }
}
