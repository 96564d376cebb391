import { defineEnvironment, discrete, multiDiscrete } from '../../environment/index.ts'
import type { FiniteDefinition, EnvironmentRandom } from '../../environment/index.ts'
import { blackjackModel } from './blackjack-model.ts'

const stateSize = 7
/** Where the hands lie in a slot's state, each as: sum with aces as 1, 1 for an ace, number of cards. */
const player = 0
const dealer = 3
/** The dealer's first card, which is seen. */
const shown = 6

const definition = defineEnvironment({
  name: 'blackjack',
  observation: multiDiscrete([32, 11, 2]),
  action: discrete(2),
  context: {
    naturalWins: {
      default: 1,
      low: 0,
      high: 1,
      integer: true,
      about: '1: an ace and a ten win against all but an ace and a ten, also against another 21',
    },
    naturalReward: {
      default: 1,
      low: 1,
      high: 2,
      extrapolate: [0.5, 3],
      about: 'of winning with an ace and a ten',
    },
    dealerStands: {
      default: 17,
      low: 16,
      high: 18,
      extrapolate: [14, 20],
      integer: true,
      about: 'sum at which the dealer stops',
    },
    tens: {
      default: 4,
      low: 2,
      high: 6,
      extrapolate: [0, 10],
      integer: true,
      about: 'tens to each other card in the deck',
    },
  },
  stateSize,
  reset({ state, context }, i, random) {
    const s = i * stateSize
    const tens = context.tens[i]
    state.fill(0, s, s + stateSize)
    state[s + shown] = deal(state, s + dealer, tens, random)
    deal(state, s + dealer, tens, random)
    deal(state, s + player, tens, random)
    deal(state, s + player, tens, random)
    // The reference draws the suit and face of the card for its pictures, from the same stream.
    random.integers(4)
    if (state[s + shown] === 10) random.integers(3)
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const s = i * stateSize
    const tens = context.tens[i]
    if (actions[i] === 1) {
      deal(state, s + player, tens, random)
      const bust = state[s + player] > 21
      rewards[i] = bust ? -1 : 0
      terminated[i] = bust ? 1 : 0
      return
    }
    while (total(state, s + dealer) < context.dealerStands[i]) deal(state, s + dealer, tens, random)
    const own = total(state, s + player)
    const other = total(state, s + dealer)
    const won = other > 21 || own > other
    const natural = isNatural(state, s + player)
    terminated[i] = 1
    if (natural && (won || (context.naturalWins[i] === 1 && !isNatural(state, s + dealer))))
      rewards[i] = context.naturalReward[i]
    else rewards[i] = won ? 1 : own === other ? 0 : -1
  },
  observe({ state, observations }, i) {
    const s = i * stateSize
    const sum = total(state, s + player)
    observations[i * 3] = sum
    observations[i * 3 + 1] = state[s + shown]
    observations[i * 3 + 2] = sum > state[s + player] ? 1 : 0
  },
  text({ state }, i) {
    const s = i * stateSize
    const sum = total(state, s + player)
    const soft = sum > state[s + player] ? ' with an ace' : ''
    return `player ${sum}${soft}, dealer shows ${state[s + shown]}`
  },
})

/**
 * Blackjack against a dealer, from an endless deck (Sutton & Barto, Reinforcement Learning, example 5.1), card for card as
 * Gymnasium 1.3's Blackjack-v1, whose `sab=True` is the default here. Its other rules: `natural=True` is naturalWins 0
 * and naturalReward 1.5, neither is naturalWins 0. Actions: stick, hit; observation: the player's sum, the dealer's
 * card (1 is an ace), 1 with an ace that counts 11. Reward 1, 0 or -1 at the end.
 *
 * The states of `transitions` are ((sum * 11 + card) * 2 + ace) * 2 + natural, natural being 1 for an ace and a ten.
 */
export const blackjack: FiniteDefinition<typeof definition.context> = {
  ...definition,
  transitions: blackjackModel,
}

/** Deals one card to a hand and returns its value. */
function deal(state: Float64Array, hand: number, tens: number, random: EnvironmentRandom): number {
  const card = Math.min(random.integers(9 + tens) + 1, 10)
  state[hand] += card
  if (card === 1) state[hand + 1] = 1
  state[hand + 2]++
  return card
}

/** The sum of a hand, an ace counting 11 where that is not too much. */
function total(state: Float64Array, hand: number): number {
  const sum = state[hand]
  return state[hand + 1] === 1 && sum <= 11 ? sum + 10 : sum
}

const isNatural = (state: Float64Array, hand: number): boolean =>
  state[hand + 2] === 2 && state[hand + 1] === 1 && state[hand] === 11
