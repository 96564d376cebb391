import { turnRewards } from '../../episode/utterances.ts'
import type { Episode, EpisodeNode, EpisodeSample } from '../../episode/types.ts'
import { spreadOverTokens } from '../advantages/critics.ts'
import { stepGroupAdvantages, turnLevelAdvantages, turnReturnAdvantages } from '../advantages/turns.ts'
import type { Member, MemberGroup } from './batch.ts'
import type { TurnAdvantageSettings } from './settings.ts'

/** Advantages of the turns of every member of a group, one for each token that the policy chose; zeros for masked ones. */
export function turnAdvantages({ members }: MemberGroup, settings: TurnAdvantageSettings): Float32Array[] {
  const advantages = ofTurns(members, settings)
  return members.map(({ episode, length }, m) => {
    const starts = turnStarts(episode).slice(0, advantages[m].length)
    return spreadOverTokens(advantages[m], length === 0 ? [] : starts, length)
  })
}

/** Share of the turns of judged episodes that the environment paid. */
export function rewardedTurns(groups: readonly MemberGroup[]): number {
  const turns = groups.flatMap(({ members }) =>
    members.flatMap(({ episode, reward }) => (reward === null ? [] : (turnRewards(episode) ?? []))),
  )
  return turns.length === 0 ? 0 : turns.filter((reward) => reward !== 0).length / turns.length
}

function ofTurns(members: readonly Member[], settings: TurnAdvantageSettings): number[][] {
  const rewards = members.map(({ episode, reward }) => {
    const turns = reward === null ? null : turnRewards(episode)
    return turns === null ? null : { turns, outcome: reward! }
  })
  switch (settings.name) {
    case 'turn-level':
      return turnLevelAdvantages(rewards, settings)
    case 'turn-return':
      return turnReturnAdvantages(rewards, settings)
    case 'step-group': {
      const stateOf = settings.anchor === 'history' ? history : observation
      const steps = rewards.map((member, m) => {
        if (member === null) return null
        const { episode } = members[m]
        const own = episode.samples.filter(({ trainable }) => trainable)
        const last = own.length - 1
        return {
          states: own.map((sample) => stateOf(episode, sample)),
          rewards: member.turns.map((reward, k) => reward + (k === last ? member.outcome : 0)),
        }
      })
      return stepGroupAdvantages(steps, settings)
    }
  }
}

/** Where each turn begins among the tokens that the policy chose. */
function turnStarts({ samples }: Episode): number[] {
  let at = 0
  return samples.flatMap(({ trainable, mask }) => {
    if (!trainable) return []
    const start = at
    for (const chosen of mask) at += chosen
    return [start]
  })
}

/** What the policy was told since it spoke last. */
function observation(episode: Episode, { path }: EpisodeSample): string {
  const nodes = path.map((id) => episode.nodes[id])
  const spoke = nodes.findLastIndex(({ role }) => role === 'assistant')
  return JSON.stringify(nodes.slice(spoke + 1).map(({ role, text }) => [role, text]))
}

/** All that was said before. */
function history(episode: Episode, { path }: EpisodeSample): string {
  const said = ({ role, text, calls }: EpisodeNode): unknown[] => [
    role,
    text,
    calls?.map((call) => [call.name, call.arguments]),
  ]
  return JSON.stringify(path.map((id) => said(episode.nodes[id])))
}
