import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import { sha256 } from '../../../runs/checksums.ts'
import type { Score, Scored, Unscored } from '../../episode/score.ts'
import {
  badRubric,
  checkScale,
  criteriaOf,
  fenced,
  pairPrompt,
  readBetter,
  readLines,
  readRelative,
  reasonOf,
  relativePrompt,
  type Rubric,
  type Scale,
  scoringPrompt,
  transcript,
  weightedMean,
} from '../../reward/judge-prompts.ts'
import type { GroupScorer, JudgeSettings, ModelReference, Scorer, ScoringContext, Trial } from '../config.ts'
import { textOf } from '../scorers.ts'
import { episodesFile, readTrials } from './stored-trials.ts'

/** What the judges of a config have in common. */
export interface JudgingOptions extends Omit<JudgeSettings, 'model' | 'about'> {
  /** The model that judges: a text `PROVIDER/ID`, a model object of the AI SDK, or `run('FOLDER')`. */
  judge: ModelReference
  /** What the judge sees of a trial: the whole conversation with the answer, or the answer alone. Default: `conversation`. */
  sees?: 'conversation' | 'answer'
}

/** Settings of `rubric`. */
export interface RubricOptions extends JudgingOptions {
  /** Lowest and highest score that the judge may give; scores are rescaled to 0 to 1. Default: [0, 1], met or not. */
  scale?: Scale
  /** The least weighted mean that counts as done. Default: 1, every criterion is fully met. */
  passAt?: number
}

/**
 * A model judges each trial by a rubric: a text, or several criteria by name. The score is the weighted mean of the criteria from 0 to 1;
 * its reason is what the judge wrote. The judge also sees what the task expects as its answer. If no attempt gives a readable score, the
 * trial is masked.
 *
 * Source: LLM-as-a-judge, Zheng et al. (arXiv 2306.05685), single answer grading.
 *
 * @throws AgogeError `bad-reward` if the rubric or the scale is empty.
 * @example
 * rubric({ right: 'The answer is right.', polite: 'It is polite.' }, { judge: 'openai/gpt-5-mini' })
 */
export function rubric<Output = unknown>(given: Rubric, options: RubricOptions): Scorer<Output> {
  const { scale = [0, 1], passAt = 1, sees = 'conversation' } = options
  const criteria = criteriaOf(given)
  checkScale(scale)
  const names = criteria.map(({ name }) => name)
  const read = (answer: string): Scored | null => {
    const score = weightedMean(criteria, readLines(answer), scale)
    return score && { ...score, reason: reasonOf(answer, names) }
  }
  async function score(trial: Trial<Output>, { ask }: ScoringContext): Promise<Score> {
    return ask(
      scoringPrompt(`${taskOf(trial)}\n${fenced('assistant', viewOf(trial, sees))}`, criteria, scale),
      read,
    )
  }
  return Object.assign(named(score, 'rubric'), {
    passAt,
    judge: settingsOf(options, { kind: 'rubric', criteria, scale, sees }),
  })
}

/** Settings of `pairwise`. */
export interface PairwiseOptions extends JudgingOptions {
  /**
   * What is compared with: the name of a model of the same evaluation, or the folder of an earlier one, relative to the config
   * (`FOLDER`, or `FOLDER#MODEL` if it has several models).
   */
  against: string
  /** What makes one answer better than another. Default: that it does what the task asks, rightly and completely. */
  rubric?: string
  /** The least score that counts as done. Default: 0.5, not worse. */
  passAt?: number
}

/**
 * A model compares each trial with one of another model at the same task, in both orders. 1 is better, 0 is worse. 0.5: equal, or the judge
 * preferred the one that it saw first, or second, in both orders. The same output as the other's is equal without a question. Masks the
 * trial if an answer of the judge is missing, or what it is compared with.
 *
 * Source: Zheng et al. (arXiv 2306.05685), section 3.4: a win counts if it holds in both orders, otherwise it is a tie.
 *
 * @example pairwise({ judge: 'openai/gpt-5-mini', against: '.agoge/evaluations/2026-11-29T09-30-00' })
 */
export function pairwise<Output = unknown>(options: PairwiseOptions): GroupScorer<Output> {
  const { against, rubric: wanted = usualRubric, passAt = 0.5, sees = 'conversation' } = options
  checkRubric(wanted)
  const read = (answer: string): { better: 0 | 1 | 2; reason: string } | null => {
    const better = readBetter(answer)
    return better === null ? null : { better, reason: reasonOf(answer, ['better']) }
  }
  const earlier = new Map<string, readonly Trial[]>()
  function others(trials: readonly Trial[], { models, folder }: ScoringContext): readonly Trial[] {
    if (models.includes(against)) return trials.filter(({ model }) => model === against)
    const found = earlier.get(folder) ?? readReference(against, folder)
    earlier.set(folder, found)
    return found.filter(({ task }) => task === trials[0].task)
  }
  async function compare(trial: Trial, other: Trial | undefined, { ask }: ScoringContext): Promise<Score> {
    if (other === undefined)
      return { value: null, reason: `${against} has no output of the task ${trial.task} to compare with` }
    const [own, its] = [trial, other].map((one) => viewOf(one, sees))
    if (own === its) return { value: 0.5, parts: {}, reason: 'the same output' }
    const task = taskOf(trial)
    const [first, second] = await Promise.all([
      ask(pairPrompt(task, [own, its], wanted), read),
      ask(pairPrompt(task, [its, own], wanted), read),
    ])
    if ('value' in first) return first
    if ('value' in second) return second
    return pairScore(first, second)
  }
  return {
    name: 'pairwise',
    passAt,
    judge: settingsOf(options, { kind: 'pairwise', rubric: wanted, sees, against }),
    async scoreGroup(trials, context) {
      const found = others(trials, context)
      return Promise.all(
        trials.map((trial) =>
          compare(trial, found.find(({ seed }) => seed === trial.seed) ?? found[0], context),
        ),
      )
    },
  }
}

interface Comparison {
  better: 0 | 1 | 2
  reason: string
}

/** `first` was asked with the own answer first, `second` with it second. */
function pairScore(first: Comparison, second: Comparison): Scored {
  const ofFirst = first.better === 0 ? 0.5 : Number(first.better === 1)
  const ofSecond = second.better === 0 ? 0.5 : Number(second.better === 2)
  // A win and a loss: the judge followed the order.
  const value = ofFirst === ofSecond ? ofFirst : 0.5
  return {
    value,
    parts: { consistent: Number(ofFirst === ofSecond) },
    reason: `shown first: ${first.reason}\nshown second: ${second.reason}`,
  }
}

/** The finished trials of an earlier evaluation. */
function readReference(against: string, root: string): Trial[] {
  const mark = against.indexOf('#')
  const [folder, model] = mark < 0 ? [against, undefined] : [against.slice(0, mark), against.slice(mark + 1)]
  const file = join(resolve(root, folder), episodesFile)
  const fail = (given: string, expected: string): AgogeError =>
    new AgogeError(`pairwise() has nothing to compare with in ${against}`, {
      code: 'bad-config',
      given,
      expected,
    })
  if (!existsSync(file))
    throw fail(`no ${episodesFile} there`, 'a model of this evaluation, or the folder of an earlier one')
  const trials = readTrials(file)
  const names = [...new Set(trials.map((trial) => trial.model))]
  if (model === undefined && names.length > 1)
    throw fail(`models ${names.join(', ')}`, names.map((name) => `${folder}#${name}`).join(' or '))
  return trials.filter((trial) => model === undefined || trial.model === model)
}

/** Settings of `relative`. */
export interface RelativeOptions extends JudgingOptions {
  /** What makes one answer better than another. Default: that it does what the task asks, rightly and completely. */
  rubric?: string
  /** The least score that counts as done. Default: 0.5. */
  passAt?: number
}

/**
 * A model judges all trials of a task in one question, relative to each other, from 0 to 1. The same outputs share a score. They are shown in an
 * order that does not depend on the models. An answer with a wrong number of scores is asked for again; without a right one all trials of the
 * task are masked.
 *
 * Source: RULER of OpenPipe's ART (relative universal LLM-elicited rewards): relative scores need no calibrated scale.
 *
 * @example relative({ judge: 'openai/gpt-5-mini', rubric: 'It solves the problem of the customer in few steps.' })
 */
export function relative<Output = unknown>(options: RelativeOptions): GroupScorer<Output> {
  const { rubric: wanted = usualRubric, passAt = 0.5, sees = 'conversation' } = options
  checkRubric(wanted)
  return {
    name: 'relative',
    passAt,
    judge: settingsOf(options, { kind: 'relative', rubric: wanted, sees }),
    async scoreGroup(trials, { ask }) {
      const views = trials.map((trial) => viewOf(trial, sees))
      // By their hash: no model is shown first more often than another.
      const shown = [...new Set(views)].map((view) => ({ view, hash: sha256(view) }))
      shown.sort((a, b) => (a.hash < b.hash ? -1 : 1))
      const texts = shown.map(({ view }) => view)
      const names = texts.map((_, at) => `answer ${at + 1}`)
      const found = await ask(relativePrompt(taskOf(trials[0]), texts, wanted), (answer) => {
        const scores = readRelative(answer, texts.length)
        return scores && { scores, reason: reasonOf(answer, names) }
      })
      if ('value' in found) return trials.map((): Unscored => found)
      const { scores, reason } = found
      return views.map((view) => ({ value: scores[texts.indexOf(view)], parts: {}, reason }))
    },
  }
}

const usualRubric =
  'It does what the task asks, rightly and completely, and claims nothing that it did not do.'

function checkRubric(text: string): void {
  if (text.trim() === '') throw badRubric(text, 'a text that says what makes an answer good')
}

/** The request, and what is expected as its answer if that is known. */
function taskOf({ given }: Pick<Trial, 'given'>): string {
  const { answer } = given.expected ?? {}
  const expected = answer === undefined ? [] : [fenced('expected answer', JSON.stringify(answer))]
  return [fenced('task', given.prompt), ...expected].join('\n')
}

/** What a judge sees of a trial. Trials with the same view are the same to it. */
function viewOf(trial: Trial, sees: 'conversation' | 'answer'): string {
  const answer = textOf(trial.output)
  if (sees === 'answer') return answer
  const said = transcript(trial)
  const last = trial.nodes.at(-1)
  // An agent often returns the last message.
  return last?.role === 'assistant' && last.text === answer
    ? said
    : `${said}\nfinal answer: ${answer.replaceAll('\n', '\n  ')}`
}

function settingsOf(options: JudgingOptions, about: object): JudgeSettings {
  const { judge, attempts, temperature, maxOutputTokens } = options
  return { model: judge, about, ...defined({ attempts, temperature, maxOutputTokens }) }
}

const named = <F extends (...given: never[]) => unknown>(work: F, name: string): F =>
  Object.defineProperty(work, 'name', { value: name })
