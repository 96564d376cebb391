import { createRandom } from '../../engine/random/index.ts'
import type { Score } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import { createAsker, type JudgeModel, type JudgeUsage, speakerOf } from './ask-judge.ts'
import {
  badRubric,
  checkScale,
  criteriaOf,
  rankingPrompt,
  readLines,
  readRanking,
  type Rubric,
  type Scale,
  scoringPrompt,
  transcript,
  fenced,
  weightedMean,
} from './judge-prompts.ts'
import type { GroupReward, RewardFunction } from './reward.ts'
import { rankOf } from './rewards.ts'

interface AskingOptions {
  /** The model that judges: an `Actor` (`createOpenAIActor`, `createLocalActor`), a model object of the AI SDK, or a function. */
  judge: JudgeModel
  /** Attempts to get a readable score, including the first. Default: 2. */
  attempts?: number
}

/** What `judgeReward` takes. Only `judge` and `rubric` are required. */
export interface JudgeOptions<Part extends string = 'score'> extends AskingOptions {
  /** What makes an answer good: one text, or several named criteria. A criterion's weight defaults to 1. */
  rubric: Rubric<Part>
  /** Lowest and highest score that the judge may give. Scores are rescaled to 0 to 1. Default: [0, 10]. */
  scale?: Scale
  /** Replaces the default question. It should say how scores are written. */
  prompt?: (episode: Episode) => string
  /** Parses the judge's answer. Returns `null` if it is unreadable. Default: reads lines such as `score: 7`. */
  parse?: (answer: string) => Score<Part>
}

/** A reward that asks a model and counts its calls. */
export type JudgeReward<R extends RewardFunction | GroupReward> = R & { readonly usage: JudgeUsage }

/**
 * A model as judge. It reads the conversation of the episode and the rubric, and writes a score for each criterion. The reward
 * is the weighted mean of the scores, 0 to 1; its parts are the scores by name. If no attempt gives a readable score, the reward
 * is `null`, which masks the episode. Each episode is one question; `usage` counts the calls.
 *
 * The prompt marks the agent's words as material, but a policy may still learn to persuade its judge. Watch a metric that the
 * policy cannot influence this way.
 *
 * Source: LLM-as-a-judge, Zheng et al. (arXiv 2306.05685), single answer grading.
 *
 * @throws AgogeError `bad-reward` if the rubric or the scale is empty.
 * @example
 * const helpful = judgeReward({
 *   judge: createOpenAIActor({ baseUrl: 'https://api.openai.com/v1', model: 'gpt-5-mini' }),
 *   rubric: { correct: 'The answer is right.', brief: { weight: 0.2, text: 'It says nothing that was not asked.' } },
 * })
 */
export function judgeReward<Part extends string = 'score'>(
  options: JudgeOptions<Part>,
): JudgeReward<RewardFunction<Part>> {
  const { rubric, scale = [0, 10] } = options
  const criteria = criteriaOf<Part>(rubric)
  checkScale(scale)
  const {
    prompt = (episode) => scoringPrompt(fenced('conversation', transcript(episode)), criteria, scale),
    parse = (answer) => weightedMean(criteria, readLines(answer), scale),
  } = options
  const asker = createAsker(speakerOf(options.judge), options.attempts)
  const reward: RewardFunction<Part> = (episode, { signal }) =>
    asker.ask<Score<Part>>(prompt(episode), `judge/${episode.id}`, parse, signal)
  return Object.defineProperty(reward, 'usage', { get: asker.usage }) as JudgeReward<RewardFunction<Part>>
}

/** What `judgeRanking` takes: the judge and the rubric by which it compares. */
export interface RankingOptions extends AskingOptions {
  /** What makes one answer better than another. */
  rubric: string
}

/**
 * A judge that compares the episodes of a group. It reads all of them, in random order to avoid position bias, and writes a
 * ranking. The best episode gets 1, the worst 0, and ties get the mean of their ranks. If the judge fails, the whole group is
 * masked.
 *
 * @example judgeRanking({ judge: createLocalActor(settings), rubric: 'The answer is right; of right ones the shorter is better.' })
 */
export function judgeRanking(options: RankingOptions): JudgeReward<GroupReward> {
  if (options.rubric.trim() === '')
    throw badRubric(options.rubric, 'a text that says what makes an answer good')
  const asker = createAsker(speakerOf(options.judge), options.attempts)
  const scoreGroup: GroupReward['scoreGroup'] = async (episodes, { signal }) => {
    if (episodes.length < 2) return episodes.map(() => 0.5)
    const { group } = episodes[0]
    const order = createRandom(0, 'ranking', group).shuffle(episodes.map((_, i) => i))
    const shown = order.map((i) => episodes[i])
    const ranks = await asker.ask(
      rankingPrompt(shown.map(transcript), options.rubric),
      `ranking/${group}`,
      (answer) => readRanking(answer, shown.length),
      signal,
    )
    if (!Array.isArray(ranks)) return episodes.map(() => ranks)
    // Place 0 is the best, so the ranks are reversed.
    const values = ranks.map((rank) => -rank)
    return episodes.map((_, i) => rankOf(values[order.indexOf(i)], values))
  }
  return Object.defineProperty({ scoreGroup }, 'usage', { get: asker.usage }) as JudgeReward<GroupReward>
}
